// The learning part's side of `shellgame train`.
#include <atomic>
#include <csignal>
#include <filesystem>

#include "shellgame/ops/engine.h"
#include "shellgame/system/error.h"
#include "shellgame/system/threads.h"
#include "shellgame/tool/run_learn.h"
#include "shellgame/train/trainer.h"

namespace shellgame {
namespace {

std::atomic<bool> interrupted = false;

// The first signal ends the run after its step, with a checkpoint; the second at once.
void on_signal(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
}

Experiment experiment_of(const TrainCommandOptions& options) {
  std::string file = options.experiment;
  if (file.empty()) {
    file = options.run + "/experiment.toml";
    if (!options.resume) wrong_use("train must have an experiment's file, or --resume");
    if (!std::filesystem::exists(file))
      wrong_use("--resume without an experiment's file must have a run in '{}'", options.run);
  }
  std::vector<std::string> changes = options.settings;
  if (options.threads > 0) changes.push_back(fmt::format("threads={}", options.threads));
  Experiment experiment = read_experiment(file, changes);
  if (experiment.threads == 0) experiment.threads = thread_count();
  experiment.resolved["threads"] = experiment.threads;
  return experiment;
}

}  // namespace

bool run_train(const TrainCommandOptions& options) {
  TrainOptions run{.experiment = experiment_of(options),
                   .run = options.run,
                   .resume = options.resume,
                   .from = options.from,
                   .quiet = options.quiet,
                   .interrupted = &interrupted};
  use_threads(run.experiment.threads);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, on_signal);
  return train(run).complete;
}

}  // namespace shellgame
