// The learning part's side of `shellgame train`.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>
#include <filesystem>

#include "shellgame/models/load_plugin.h"
#include "shellgame/ops/engine.h"
#include "shellgame/system/cores.h"
#include "shellgame/system/files.h"
#include "shellgame/system/interrupts.h"
#include "shellgame/system/messages.h"
#include "shellgame/system/threads.h"
#include "shellgame/text/error.h"
#include "shellgame/tool/run_learn.h"
#include "shellgame/train/run_evaluation.h"
#include "shellgame/train/trainer.h"

namespace shellgame {
namespace {

std::atomic<bool> interrupted = false;
std::atomic<std::int64_t> interrupted_at = 0;  // nanoseconds

std::int64_t monotonic_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // may be called in a signal handler
  return std::int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

// The first signal ends the run after its step, with a checkpoint; one that comes more than a
// second later ends it at once. Within that second it is the same wish by another way: a sweep's
// group is told, and the sweep tells its runs.
void on_signal(int signal) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t now = monotonic_nanoseconds();
  if (!interrupted) {
    interrupted_at = now;
    interrupted = true;
  } else if (now - interrupted_at > kSecond) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

Experiment experiment_of(const TrainCommandOptions& options) {
  std::string file = options.experiment;
  if (file.empty()) {
    file = options.run + "/experiment.toml";
    if (!options.resume) wrong_use("train needs an experiment file, or --resume");
    if (!std::filesystem::exists(file))
      wrong_use("--resume without an experiment's file must have a run in '{}'", options.run);
  }
  std::vector<std::string> changes = options.settings;
  if (!options.arm.empty()) changes.push_back("arm=" + options.arm);
  if (options.threads > 0) changes.push_back(fmt::format("threads={}", options.threads));
  // What the user names may be a pipe; a record of a run is a file.
  const std::string text = options.experiment.empty() ? read_file(file) : read_input(file);
  const std::string record = options.run + "/experiment.toml";
  const bool goes_on = options.resume && std::filesystem::exists(record);
  std::vector<std::string> plugins = options.plugins;
  // A run that goes on knows its plug-ins, and where its first weights came from.
  if (plugins.empty() && experiment_plugins(text, file).empty() && goes_on)
    plugins = experiment_plugins(read_file(record), record);
  load_plugins(plugins);
  load_plugins(experiment_plugins(text, file));
  Experiment experiment = parse_experiment(text, file, changes);
  std::string from = options.from;
  if (from.empty() && experiment.from.empty() && goes_on) from = read_experiment(record).from;
  set_run_choices(experiment, experiment.threads == 0 ? thread_count() : experiment.threads, from,
                  plugins);
  return experiment;
}

void tell(const std::vector<std::string>& notes) {
  if (isatty(STDERR_FILENO) != 0) draw("\r\x1b[K");  // the bar of the steps
  for (const std::string& note : notes) say("note: {}", note);
}

}  // namespace

bool run_train(const TrainCommandOptions& options) {
  TrainOptions run{.experiment = experiment_of(options),
                   .run = options.run,
                   .resume = options.resume,
                   .quiet = options.quiet,
                   .evaluate = {},
                   .interrupted = &interrupted};
  run.evaluate =
      run_evaluation(run.experiment, run.run,
                     run.quiet ? std::function<void(const std::vector<std::string>&)>() : tell);
  use_threads(std::min(run.experiment.threads, usable_cores()));
  handle_interrupts(on_signal);
  return train(run).complete;
}

}  // namespace shellgame
