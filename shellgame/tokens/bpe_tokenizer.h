// Hugging Face's tokenizer.json of the byte-level BPE family (GPT-2, Llama 3, Qwen 3 and others),
// with the same ids and the same decoded text as Hugging Face's library. Newly assigned characters
// can differ by the version of Unicode that ICU and PCRE2 have.
#pragma once

#include <map>

#include "shellgame/tokens/added_tokens.h"
#include "shellgame/tokens/bpe_model.h"
#include "shellgame/tokens/normalizer.h"
#include "shellgame/tokens/pre_tokenizer.h"
#include "shellgame/tokens/tokenizer.h"
#include "shellgame/tokens/tokenizer_parts.h"

namespace shellgame {

class BpeTokenizer final : public Tokenizer {
 public:
  // Reads the content of a tokenizer.json; `name` is said in errors and by name(). Throws
  // InputError for what is wrong and for what is not supported, naming the key and the value.
  BpeTokenizer(std::string_view json, std::string name);
  BpeTokenizer(const BpeTokenizer&) = delete;
  BpeTokenizer& operator=(const BpeTokenizer&) = delete;

  using Tokenizer::decode;
  using Tokenizer::encode;
  // The text must be valid UTF-8. A post-processor's template (such as a <bos> before the text) is
  // applied, as the library does unless it is told not to.
  void encode(std::string_view text, std::vector<std::uint32_t>& ids) const override;
  void encode_with_offsets(std::string_view text, std::vector<std::uint32_t>& ids,
                           std::vector<std::uint32_t>& offsets) const override;
  // Bytes that are not UTF-8 become U+FFFD.
  std::string decode(const std::uint32_t* ids, std::size_t count) const override;
  std::optional<std::uint32_t> token_id(std::string_view token) const override;
  std::uint32_t vocabulary_size() const override;
  std::string name() const override { return name_; }

 private:
  struct Output;
  void encode_all(std::string_view text, Output& output) const;
  void encode_part(std::string_view text, Output& output) const;
  void encode_pieces(std::string_view text, std::size_t begin, Output& output) const;

  std::string name_;
  TokenizerFile file_;    // its tokens are the texts that vocabulary_ looks at
  StringIds vocabulary_;  // of the model
  std::map<std::string, std::uint32_t, std::less<>> added_;
  DecodedTokens decoded_;
  Normalizer normalizer_;
  std::optional<PreTokenizer> pre_tokenizer_;
  std::optional<BpeModel> model_;
  AddedTokenFinder original_tokens_, normalized_tokens_;
  AroundText around_;
};

}  // namespace shellgame
