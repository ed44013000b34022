// The learning part's side of `shellgame evaluate`.
#include "shellgame/evaluate/grid.h"
#include "shellgame/models/model_predictor.h"
#include "shellgame/models/model_tokenizer.h"
#include "shellgame/ops/engine.h"
#include "shellgame/tool/evaluate_options.h"
#include "shellgame/tool/run_learn.h"

namespace shellgame {

EvaluationReport run_evaluate(const EvaluateOptions& options) {
  const EngineScope engine(options.model.composed ? Engine::kComposed : Engine::kKernels);
  const Model model = open_model(options.model);
  const auto tokenizer = tokenizer_for(*options.grid.points.front(), options.tokenizer,
                                       options.model.directory, model);
  return evaluate_grid(options.grid, ModelPredictor(model), tokenizer.get());
}

}  // namespace shellgame
