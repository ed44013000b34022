// The "model" of a tokenizer.json: vocabulary and merges.
#include "shellgame/text/error.h"
#include "shellgame/text/utf8.h"
#include "shellgame/tokens/byte_alphabet.h"
#include "shellgame/tokens/tokenizer_parts.h"

namespace shellgame {
namespace {

void require_plain_options(const JsonField& field) {
  field.allow_keys({"type", "dropout", "unk_token", "continuing_subword_prefix",
                    "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges", "vocab",
                    "merges"});
  if (const auto type = field.find("type"); type && type->text() != "BPE") type->refuse("\"BPE\"");
  if (const auto dropout = field.find("dropout"); dropout && !dropout->is_null_or_zero())
    dropout->refuse("null, because encoding must not be random");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (const auto affix = field.find(key); affix && !affix->is_null() && !affix->text().empty())
      affix->refuse("null or empty");
  if (field.boolean_or("byte_fallback", false))
    field.at("byte_fallback").refuse("false, because the alphabet is one of bytes already");
}

Merges read_merges(const JsonField& field, const TokenizerFile& file, const StringIds& vocabulary) {
  if (!file.has_merges) field.at("merges").refuse("an array");
  const std::size_t count = file.merges.size() / 2;
  Merges merges(count);
  std::string joined;
  for (std::size_t rank = 0; rank < count; ++rank) {
    const std::string_view left = file.merges[2 * rank], right = file.merges[2 * rank + 1];
    joined.assign(left);
    joined += right;
    const auto id_of = [&](std::string_view token) {
      const auto id = vocabulary.find(token);
      if (!id)
        field.wrong(
            fmt::format("must have all tokens of its merges in its vocab, but merge {} "
                        "(\"{}\" and \"{}\") needs \"{}\"",
                        rank, left, right, token));
      return *id;
    };
    const std::uint32_t left_id = id_of(left), right_id = id_of(right);
    merges.add(left_id, right_id, static_cast<std::uint32_t>(rank), id_of(joined));
  }
  return merges;
}

}  // namespace

void DecodedTokens::set(std::uint32_t id, std::string_view token) {
  if (id >= spans.size()) spans.resize(id + 1, kNowhere);
  const std::size_t begin = bytes.size();
  if (!append_bytes_of(token, bytes)) bytes += token;
  spans[id] = {begin, bytes.size()};
}

BpeModel::Parts read_model(const JsonField& field, const TokenizerFile& file,
                           const StringIds& vocabulary, const DecodedTokens& decoded) {
  require_plain_options(field);
  BpeModel::Parts parts;
  parts.merges = read_merges(field, file, vocabulary);
  for (const Span& span : decoded.spans)
    parts.lengths.push_back(
        static_cast<std::uint32_t>(span == DecodedTokens::kNowhere ? 0 : span.end - span.begin));

  bool complete = true;
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::string character;
    append_utf8(character, byte_character(static_cast<std::uint8_t>(byte)));
    const auto id = vocabulary.find(character);
    parts.byte_ids[byte] = id.value_or(BpeModel::kNoId);
    complete = complete && id.has_value();
  }
  if (field.boolean_or("ignore_merges", false)) {
    // Texts first, all of them, then the map that looks at them: a list that grows moves its texts.
    parts.whole_texts = std::make_unique<TextList>();
    std::vector<std::uint32_t> ids;
    std::string bytes;
    for (std::size_t i = 0; i < file.tokens.size(); ++i) {
      bytes.clear();
      // A token outside the byte alphabet can never be a piece.
      if (!append_bytes_of(file.tokens[i], bytes)) continue;
      parts.whole_texts->add(bytes);
      ids.push_back(file.ids[i]);
    }
    parts.whole.emplace(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) parts.whole->add((*parts.whole_texts)[i], ids[i]);
  }
  parts.fuse_unknown = field.boolean_or("fuse_unk", false);
  if (const auto unknown = field.find("unk_token"); unknown && !unknown->is_null()) {
    parts.unknown = vocabulary.find(unknown->text());
    if (!parts.unknown && !complete) unknown->refuse("a token of model.vocab");
  }
  return parts;
}

}  // namespace shellgame
