// `shellgame train`: an experiment's run, in a directory.
#include <cstdlib>

#include "shellgame/system/threads.h"
#include "shellgame/tool/command.h"
#include "shellgame/tool/learn_commands.h"
#include "shellgame/tool/plugins.h"

namespace shellgame {
namespace {

constexpr int kInterrupted = 130;  // as shells count a program that Ctrl-C ended

}  // namespace

void add_train(CLI::App& app) {
  auto options = std::make_shared<TrainCommandOptions>();
  CLI::App* command = add_command(
      app, "train",
      "Train a model as an experiment file says; it can be interrupted at any moment "
      "and continued.",
      {"shellgame train experiments/smoke/experiment.toml --run runs/smoke",
       "shellgame train experiments/smoke/experiment.toml --run runs/other --set seed=3 --set "
       "stages.0.batch=16",
       "shellgame train --run runs/smoke --resume"});
  command->callback([options, command] {
    if (command->count("--threads") > 0) options->threads = thread_count();
    if (!learn_commands().train(*options)) std::exit(kInterrupted);
  });
  set_help(command->get_option("--threads"), "threads to use" +
                                                 threads_default("the file's, else ") +
                                                 ". The same number gives the same bits");
  command
      ->add_option("experiment", options->experiment,
                   "a TOML file (docs/training.md); not needed with --resume")
      ->type_name("FILE");
  command->add_option("--arm", options->arm, "which of the file's [[arms]]; by default the first")
      ->type_name("NAME");
  command->add_option("--run", options->run, "the run's directory")->type_name("DIR")->required();
  command
      ->add_option("--set", options->settings,
                   "change a key of the file: optimiser.learning-rate=1e-3, stages.0.batch=4")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--resume", options->resume,
                    "continue the run in the directory, or start it if there is none");
  command
      ->add_option("--from", options->from,
                   "start from this model's weights (the file's key `from`)")
      ->type_name("MODEL_DIR");
  add_plugin_option(command, options->plugins);
  command->add_flag("--quiet", options->quiet, "print nothing but what is wrong");
}

}  // namespace shellgame
