// The tokenizer of a model's directory.
#pragma once

#include <memory>
#include <string>

#include "shellgame/episodes/data.h"
#include "shellgame/models/model.h"

namespace shellgame {

// The tokenizer that was named, else the one in the model's directory, else lexemes, which must
// then be the model's vocabulary.
std::string tokenizer_of(const std::string& named, const std::string& model_directory,
                         const Model& model);
// The same, opened, for data that are text; null for others. Throws UsageError where ids name
// another tokenizer than the model's.
std::unique_ptr<Tokenizer> tokenizer_for(const Data& data, const std::string& named,
                                         const std::string& model_directory, const Model& model);

}  // namespace shellgame
