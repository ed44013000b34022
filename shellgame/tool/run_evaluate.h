// The grid of an evaluation, over a model that is at hand: for `evaluate` and for the evaluation
// points of a run.
#pragma once

#include "shellgame/evaluate/cell.h"
#include "shellgame/models/model.h"
#include "shellgame/tool/evaluate_options.h"

namespace shellgame {

// The tokenizer that was named, else the one in the model's directory, else lexemes, which must
// then be the model's vocabulary.
std::string tokenizer_of(const std::string& named, const std::string& model_directory,
                         const Model& model);
// The same, opened, for data that are text; null for others.
std::unique_ptr<Tokenizer> tokenizer_for(const Data& data, const std::string& named,
                                         const std::string& model_directory, const Model& model);

EvaluationReport evaluate_grid(const EvaluateOptions& options, const Model& model);

}  // namespace shellgame
