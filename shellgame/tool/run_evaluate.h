// The grid of an evaluation, over a model that is at hand: for `evaluate` and for the evaluation
// points of a run.
#pragma once

#include "shellgame/evaluate/cell.h"
#include "shellgame/models/model.h"
#include "shellgame/tool/evaluate_options.h"

namespace shellgame {

EvaluationReport evaluate_grid(const EvaluateOptions& options, const Model& model);

}  // namespace shellgame
