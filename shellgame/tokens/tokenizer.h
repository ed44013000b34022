// What every tokenizer does: text to ids and back. Kinds: lexemes of the trace language, bytes, and
// Hugging Face's byte-level BPE files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shellgame {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  // Appends the ids of `text` to `ids`. Safe to call from several threads at once. Throws Error for
  // a text that cannot be encoded, and then leaves `ids` as it was.
  virtual void encode(std::string_view text, std::vector<std::uint32_t>& ids) const = 0;
  // Appends the ids and, for each, the byte in `text` at which its part of the text begins. An id
  // that a template adds (such as a <bos>) stands at the border of the text. Where a normalizer has
  // changed the text, the offset is that of the smallest piece of the original which was normalised
  // on its own (a letter with its marks).
  virtual void encode_with_offsets(std::string_view text, std::vector<std::uint32_t>& ids,
                                   std::vector<std::uint32_t>& offsets) const = 0;
  // The text of ids, special tokens included; throws Error for an id that the vocabulary lacks.
  virtual std::string decode(const std::uint32_t* ids, std::size_t count) const = 0;
  // The id of the token with this text ("<bos>"), if the vocabulary has it.
  virtual std::optional<std::uint32_t> token_id(std::string_view token) const = 0;
  // One more than the largest id.
  virtual std::uint32_t vocabulary_size() const = 0;
  // "lexeme", "bytes", or the path of the tokenizer.json.
  virtual std::string name() const = 0;
  // Whether the ids of a text are those of its lines, one after the other.
  virtual bool lines_are_independent() const { return false; }

  std::vector<std::uint32_t> encode(std::string_view text) const {
    std::vector<std::uint32_t> ids;
    encode(text, ids);
    return ids;
  }
  std::string decode(const std::vector<std::uint32_t>& ids) const {
    return decode(ids.data(), ids.size());
  }
};

// "lexeme", "bytes" or the path of a tokenizer.json (or of a directory that holds one). A file that
// is exactly lexeme_tokenizer_json() opens as "lexeme".
std::unique_ptr<Tokenizer> open_tokenizer(const std::string& name);

}  // namespace shellgame
