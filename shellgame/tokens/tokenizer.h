// What every tokenizer does: text to ids and back. Kinds: lexemes of the trace language, bytes, and
// Hugging Face's byte-level BPE files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace shellgame {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  // Appends the ids of `text` to `ids`. Safe to call from several threads at once.
  virtual void encode(std::string_view text, std::vector<std::uint32_t>& ids) const = 0;
  // Appends the ids and, for each, the byte in `text` at which its part of the text begins.
  virtual void encode_with_offsets(std::string_view text, std::vector<std::uint32_t>& ids,
                                   std::vector<std::uint32_t>& offsets) const = 0;
  // The text of ids; throws Error for an id that the vocabulary does not have.
  virtual std::string decode(const std::uint32_t* ids, std::size_t count) const = 0;
  // One more than the largest id.
  virtual std::uint32_t vocabulary_size() const = 0;
  // "lexeme", "bytes", or the path of the tokenizer.json.
  virtual std::string name() const = 0;
};

// "lexeme", "bytes" or the path of a tokenizer.json (or of a directory that holds one).
std::unique_ptr<Tokenizer> open_tokenizer(const std::string& name);

}  // namespace shellgame
