#include "shellgame/models/model_tokenizer.h"

#include <filesystem>

#include "shellgame/text/error.h"
#include "shellgame/tokens/lexeme_tokenizer.h"

namespace shellgame {

std::string tokenizer_of(const std::string& named, const std::string& model_directory,
                         const Model& model) {
  if (!named.empty()) return named;
  const std::string own = model_directory + "/tokenizer.json";
  if (std::filesystem::exists(own)) return own;
  const std::int64_t lexemes = LexemeTokenizer().vocabulary_size(),
                     has = model.config().spec().vocabulary;
  if (has != lexemes)
    wrong_use(
        "a model without a tokenizer.json must have the vocabulary of {} lexemes, and that of '{}' "
        "has {}: name its tokenizer with --tokenizer",
        lexemes, model_directory, has);
  return "lexeme";
}

std::unique_ptr<Tokenizer> tokenizer_for(const Data& data, const std::string& named,
                                         const std::string& model_directory, const Model& model) {
  if (!data.is_text()) {
    // Ids that name a tokenizer must be the model's, where that has a name: a tokenizer.json in its
    // directory may be any, also the lexemes'.
    const bool has_name =
        !named.empty() || (!std::filesystem::exists(model_directory + "/tokenizer.json") &&
                           model.config().spec().vocabulary == LexemeTokenizer().vocabulary_size());
    if (!data.tokenizer().empty() && has_name)
      decoding_tokenizer(data, tokenizer_of(named, model_directory, model));
    return nullptr;
  }
  return open_tokenizer(tokenizer_of(named, model_directory, model));
}

}  // namespace shellgame
