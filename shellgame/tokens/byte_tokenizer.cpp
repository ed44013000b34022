#include "shellgame/tokens/byte_tokenizer.h"

#include "shellgame/text/error.h"
#include "shellgame/tokens/offsets.h"

namespace shellgame {

void ByteTokenizer::encode(std::string_view text, std::vector<std::uint32_t>& ids) const {
  ids.reserve(ids.size() + text.size());
  for (const char byte : text) ids.push_back(static_cast<unsigned char>(byte));
}

void ByteTokenizer::encode_with_offsets(std::string_view text, std::vector<std::uint32_t>& ids,
                                        std::vector<std::uint32_t>& offsets) const {
  require_offsets_fit(text);
  encode(text, ids);
  offsets.reserve(offsets.size() + text.size());
  for (std::size_t i = 0; i < text.size(); ++i) offsets.push_back(static_cast<std::uint32_t>(i));
}

std::string ByteTokenizer::decode(const std::uint32_t* ids, std::size_t count) const {
  std::string text(count, '\0');
  for (std::size_t i = 0; i < count; ++i) {
    if (ids[i] > 255) fail("an id of the bytes tokenizer must be at most 255, not {}", ids[i]);
    text[i] = static_cast<char>(ids[i]);
  }
  return text;
}

std::optional<std::uint32_t> ByteTokenizer::token_id(std::string_view token) const {
  if (token.size() != 1) return std::nullopt;
  return static_cast<unsigned char>(token[0]);
}

}  // namespace shellgame
