// The tokenizer whose ids are the bytes of the text, 0 to 255.
#pragma once

#include "shellgame/tokens/tokenizer.h"

namespace shellgame {

class ByteTokenizer final : public Tokenizer {
 public:
  using Tokenizer::decode;
  using Tokenizer::encode;
  void encode(std::string_view text, std::vector<std::uint32_t>& ids) const override;
  void encode_with_offsets(std::string_view text, std::vector<std::uint32_t>& ids,
                           std::vector<std::uint32_t>& offsets) const override;
  std::string decode(const std::uint32_t* ids, std::size_t count) const override;
  std::optional<std::uint32_t> token_id(std::string_view token) const override;
  std::uint32_t vocabulary_size() const override { return 256; }
  std::string name() const override { return "bytes"; }
  bool lines_are_independent() const override { return true; }
};

}  // namespace shellgame
