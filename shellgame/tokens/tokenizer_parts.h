// Builds the parts of a byte-level BPE tokenizer from the fields of its tokenizer.json. Each throws
// InputError for what is wrong or not supported.
#pragma once

#include <string>
#include <vector>

#include "shellgame/tokens/added_tokens.h"
#include "shellgame/tokens/bpe_model.h"
#include "shellgame/tokens/json_field.h"
#include "shellgame/tokens/normalizer.h"
#include "shellgame/tokens/pre_tokenizer.h"
#include "shellgame/tokens/tokenizer_file.h"

namespace shellgame {

// What a template puts before and after the ids of a text.
struct AroundText {
  std::vector<std::uint32_t> before, after;
};

Normalizer read_normalizer(const JsonField& field);
PreTokenizer read_pre_tokenizer(const JsonField& field);
AroundText read_post_processor(const JsonField& field);
void require_byte_level_decoder(const JsonField& field);

// What every token stands for when it is decoded, by id.
struct DecodedTokens {
  std::string bytes;
  std::vector<Span> spans;  // kNowhere for an id that no token has
  static constexpr Span kNowhere = {~std::size_t{0}, 0};

  // A text of the byte alphabet gives its bytes, any other text gives itself.
  void set(std::uint32_t id, std::string_view token);
  bool has(std::uint32_t id) const { return id < spans.size() && spans[id] != kNowhere; }
  std::string_view operator[](std::uint32_t id) const {
    return std::string_view(bytes).substr(spans[id].begin, spans[id].end - spans[id].begin);
  }
};

// Specials first, as the library orders them. `vocabulary` has the tokens of the model, `count` of
// them; ids must be those that the library would give.
std::vector<AddedToken> read_added_tokens(const JsonField& field, const StringIds& vocabulary,
                                          std::size_t count);

// `vocabulary` and `decoded` have the tokens of the file and must outlive the model.
BpeModel::Parts read_model(const JsonField& field, const TokenizerFile& file,
                           const StringIds& vocabulary, const DecodedTokens& decoded);

}  // namespace shellgame
