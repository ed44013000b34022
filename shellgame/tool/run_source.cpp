#include "shellgame/tool/run_source.h"

#include <filesystem>

#include "shellgame/system/error.h"

namespace shellgame {

std::optional<Experiment> open_run(const std::string& run, ModelPlace& model,
                                   std::string& tokenizer) {
  if (run.empty() == model.directory.empty()) {
    wrong_use("either --run DIR or --model DIR must be given");
  }
  if (run.empty()) return {};
  model.directory = run + "/model";
  if (!std::filesystem::exists(model.directory)) {
    fail("a run must have the directory '{}', and it is not there: has the training ended?",
         model.directory);
  }
  Experiment experiment = read_experiment(run + "/experiment.toml");
  if (tokenizer.empty() && !std::filesystem::exists(model.directory + "/tokenizer.json")) {
    tokenizer = experiment.tokenizer;
  }
  return experiment;
}

Task trace_task(const TaskOptions& options, const Experiment* run) {
  Task task = options.resolve_unchecked(run != nullptr ? run->task : Task());
  if (!task.stages.empty()) {
    task.commands = task.stages.back().commands;
    task.spacing = task.stages.back().spacing;
    task.stages.clear();
  }
  return task;
}

}  // namespace shellgame
