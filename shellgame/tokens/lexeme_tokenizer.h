// The tokenizer of the trace language: a fixed vocabulary of lexemes, longest match from left to
// right, so that prompts, keywords, variables and values are one token each. Strict: what is no
// lexeme is an Error. Only "\n" holds a newline, so the lines of a trace are encoded independently.
#pragma once

#include "shellgame/tokens/tokenizer.h"

namespace shellgame {

class LexemeTokenizer final : public Tokenizer {
 public:
  // Specials are never produced by encoding; decoding gives their texts.
  static constexpr std::uint32_t kPad = 0, kBos = 1, kEos = 2, kUnk = 3;
  static constexpr std::uint32_t kFirstLexeme = 4;

  // All tokens in the order of their ids, the four specials first.
  static const std::vector<std::string>& vocabulary();
  // The id of a token; throws Error when the vocabulary does not have it.
  static std::uint32_t id_of(std::string_view token);

  using Tokenizer::decode;
  using Tokenizer::encode;
  void encode(std::string_view text, std::vector<std::uint32_t>& ids) const override;
  void encode_with_offsets(std::string_view text, std::vector<std::uint32_t>& ids,
                           std::vector<std::uint32_t>& offsets) const override;
  std::string decode(const std::uint32_t* ids, std::size_t count) const override;
  std::optional<std::uint32_t> token_id(std::string_view token) const override;
  std::uint32_t vocabulary_size() const override;
  std::string name() const override { return "lexeme"; }
  bool lines_are_independent() const override { return true; }
};

// The same tokenizer as a tokenizer.json for Hugging Face's library (which gives <unk> where this
// one gives an Error).
std::string lexeme_tokenizer_json();

}  // namespace shellgame
