#include "shellgame/train/run_evaluation.h"

#include "shellgame/evaluate/grid.h"
#include "shellgame/models/model_predictor.h"
#include "shellgame/models/model_tokenizer.h"

namespace shellgame {

std::function<nlohmann::ordered_json(const Model&)> run_evaluation(
    const Experiment& experiment, const std::string& run,
    std::function<void(const std::vector<std::string>& notes)> told) {
  const EvaluationSettings& settings = experiment.evaluation;
  GridOptions options;
  options.model = run + "/model";  // a name for the record: the model is at hand
  options.precision = experiment.precision;
  options.trained = trained_task(experiment);
  options.count = static_cast<std::uint64_t>(settings.count);
  options.seeds = {settings.seed};
  options.points = evaluation_points(experiment, options.notes);
  return [options, told, tokenizer = experiment.tokenizer](const Model& model) mutable {
    const auto opened = tokenizer_for(*options.points.front(), tokenizer, options.model, model);
    const EvaluationReport report = evaluate_grid(options, ModelPredictor(model), opened.get());
    if (told) told(report.notes);
    told = {};
    return to_json(report);
  };
}

}  // namespace shellgame
