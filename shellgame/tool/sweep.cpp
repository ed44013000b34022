// `shellgame sweep`: one experiment with many seeds and settings, as many runs at once as cores
// allow, and one table at the end. Runs are `shellgame train` processes in directories of their
// own, so that a sweep can stop and go on as they can (train/run_sweep.h).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "shellgame/report/sweep_charts.h"
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/system/threads.h"
#include "shellgame/text/error.h"
#include "shellgame/tool/command.h"
#include "shellgame/tool/plugins.h"
#include "shellgame/train/experiment.h"
#include "shellgame/train/run_sweep.h"

namespace shellgame {
namespace {

// "0..4" or "0,3,7".
void set_seeds(SweepOptions& options, const std::string& text) {
  options.seeds = parse_whole_list("--seeds", kSmallSeedBounds, text, true);
  options.seeds_text = text;
}

std::vector<std::string> draw(const SweepResults& results, const SweepOptions& options) {
  return draw_sweep(sweep_json(results), options.run,
                    {.title = read_experiment(options.experiment, results.entries[0].settings).name,
                     .note = results.command,
                     .chance = common_chance(results)});
}

void sweep(const SweepOptions& options, int threads, bool json) {
  use_plugins(options.plugins);
  use_plugins(experiment_plugins(read_file(options.experiment), options.experiment));
  const SweepResults results = run_sweep(options, threads);
  print_data(json ? sweep_json(results).dump(1) + "\n" : sweep_text(results));
  const std::vector<std::string> drawn = draw(results, options);
  if (!json && !drawn.empty())
    print_lines("Curves: {}/{{{}}}\n", options.run, fmt::join(drawn, ","));
  if (any_failed(results)) fail("some runs failed: the same command tries them again");
}

}  // namespace

void add_sweep(CLI::App& app) {
  auto options = std::make_shared<SweepOptions>();
  auto format = std::make_shared<std::string>("text");
  CLI::App* command = add_command(
      app, "sweep", "Many runs of an experiment, side by side, with one table at the end.",
      {"shellgame sweep experiments/smoke/experiment.toml --seeds 0..4 --run runs/smoke",
       "shellgame sweep experiments/smoke/experiment.toml --seeds 0..2 --set "
       "model.allow_neg_eigval=true,false --run runs/range"});
  command->callback([options, format, command] {
    sweep(*options, command->count("--threads") > 0 ? thread_count() : 1, *format == "json");
  });
  set_help(command->get_option("--threads"),
           "threads of each run, by default 1. The same number gives the same bits");
  command->add_option("experiment", options->experiment, "a TOML file (docs/training.md)")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--arms", options->arms,
                   "only these arms of the file; may be given several times")
      ->type_name("NAME")
      ->allow_extra_args(false);
  CLI::Option* seeds = command->add_option_function<std::string>(
      "--seeds", [options](const std::string& text) { set_seeds(*options, text); },
      "0..4, or 0,3,7");
  seeds->type_name("SEEDS")->default_str(options->seeds_text);
  declare_numbers(seeds, {{"--seeds", kSmallSeedBounds}, {"--seeds", kSmallSeedBounds, "0..{}"}});
  command
      ->add_option("--set", options->settings,
                   "change a key; several values, separated by commas, are tried one by one, and "
                   "several --set in every combination")
      ->type_name("KEY=A,B")
      ->allow_extra_args(false);
  command->add_option("--run", options->run, "the directory of all runs")
      ->type_name("DIR")
      ->required();
  command
      ->add_option("--from", options->from,
                   "start from this model's weights; {seed} stands for the run's seed")
      ->type_name("MODEL_DIR");
  command
      ->add_option("--tuned", options->tuned,
                   "a tune.json of `shellgame tune`: every arm gets the settings that it found")
      ->type_name("FILE");
  add_plugin_option(command, options->plugins);
  add_number(command, "--jobs", options->jobs, NumberBounds::whole(1, kMostThreads),
             "runs at once; by default as many as cores allow with one thread each (or "
             "--threads)")
      ->default_str("");
  add_words(command, "--format", *format, {"text", "json"}, "the form of the table");
}

}  // namespace shellgame
