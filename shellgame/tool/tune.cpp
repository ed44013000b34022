// `shellgame tune`: the same search for the settings of every arm of an experiment. Trials are
// `shellgame train` processes in directories of their own (train/run_tune.h), so that a search can
// stop and go on as they can.
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/system/threads.h"
#include "shellgame/text/error.h"
#include "shellgame/tool/command.h"
#include "shellgame/tool/plugins.h"
#include "shellgame/train/experiment.h"
#include "shellgame/train/run_tune.h"

namespace shellgame {
namespace {

void tune(const TuneOptions& options, int threads, bool json) {
  use_plugins(options.plugins);
  use_plugins(experiment_plugins(read_file(options.experiment), options.experiment));
  const TuneResults results = run_tune(options, threads);
  print_data(json ? tune_json(results).dump(1) + "\n" : tune_text(results));
  for (const TuneTrial& trial : results.all) {
    if (!trial.score) fail("some trials failed: the same command tries them again");
  }
}

}  // namespace

void add_tune(CLI::App& app) {
  auto options = std::make_shared<TuneOptions>();
  auto format = std::make_shared<std::string>("text");
  CLI::App* command = add_command(
      app, "tune",
      "Search settings for every arm of an experiment: the same trials, with the same budget, "
      "judged at the trained length.",
      {"shellgame tune experiments/uncertainty/experiment.toml --trials 8 --run runs/tune",
       "shellgame sweep experiments/uncertainty/experiment.toml --tuned runs/tune/tune.json "
       "--seeds 0..9 --run runs/tuned"});
  command->callback([options, format, command] {
    tune(*options, command->count("--threads") > 0 ? thread_count() : 1, *format == "json");
  });
  set_help(command->get_option("--threads"),
           "threads of each trial, by default 1. The same number gives the same bits");
  command
      ->add_option("experiment", options->experiment,
                   "a TOML file with [tune], the space of the search (docs/training.md)")
      ->type_name("FILE")
      ->required();
  add_number(command, "--trials", options->trials, kTrialBounds, "trials of each arm");
  add_number(command, "--budget", options->budget, NumberBounds::real(0, 1e12),
             "CPU seconds of each arm; each trial has an equal share and ends when it is "
             "spent. 0: no limit");
  command
      ->add_option("--arms", options->arms,
                   "only these arms of the file; may be given several times")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_option("--run", options->run, "the directory of all trials")
      ->type_name("DIR")
      ->required();
  add_plugin_option(command, options->plugins);
  add_number(command, "--jobs", options->jobs, NumberBounds::whole(1, kMostThreads),
             "trials at once; by default as many as cores allow with one thread each (or "
             "--threads)")
      ->default_str("");
  add_words(command, "--format", *format, {"text", "json"}, "the form of the table");
}

}  // namespace shellgame
