// `shellgame probe`: what is inside a model, and what happens when it is changed.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"
#include "shellgame/tool/command.h"
#include "shellgame/tool/data_options.h"
#include "shellgame/tool/plugins.h"
#include "shellgame/tool/probe_options.h"
#include "shellgame/tool/run_source.h"
#include "shellgame/train/sweep_evaluation.h"
#include "shellgame/train/toml_json.h"

namespace shellgame {
namespace {

// Of a layer or a head, counted from 0; the model knows how many it has.
constexpr NumberBounds kPlaceBounds = NumberBounds::whole(0, 1'000'000);
constexpr NumberBounds kStatePlaces = NumberBounds::whole(1, 1'000'000);

struct Given {
  std::optional<DataOptions> data;
  std::string run, sweep, name = "probe";
  CLI::App* command = nullptr;
  std::uint64_t commands = 64, spacing = 2;
  std::vector<std::string> plugins, settings;
  ProbeOptions options;
};

void run(const Given& given) {
  ProbeOptions options = given.options;
  for (const std::string& setting : given.settings) set_by_path(options.settings, setting);
  use_plugins(given.plugins);
  const std::optional<Experiment> run = open_run(given.run, options.model, options.tokenizer);
  const std::optional<TaskRecord> record =
      task_of_model(run ? &*run : nullptr, options.model.directory);
  const DataSpec* base = record ? &record->data : nullptr;
  DataOptions data = *given.data;
  if (data.schedules().empty()) {
    const std::vector<std::string>& axes = find_data_kind(data.kind(base)).axes;
    if (!axes.empty()) data.axes[axes.front()] = {fmt::format("{}", given.commands)};
    if (std::ranges::find(axes, "spacing") != axes.end())
      data.axes["spacing"] = {fmt::format("{}", given.spacing)};
  }
  std::vector<std::string> notes;
  const std::vector<SharedData> cells = data.cells(base, {}, notes);
  if (cells.size() != 1)
    wrong_use("a probe takes one cell, not {}: choose it with --set", cells.size());
  options.data = cells.front();
  if (record && !run && options.format == "text" && !data.says_something())
    say("note: the task is the model's own: {}", spec_json(*base, false).dump());
  learn_commands().probe(options);
}

// Every run of a sweep: its answer is kept beside it, and read back as cells.
void run_on_sweep(const Given& given) {
  if (!given.run.empty() || !given.options.model.directory.empty())
    wrong_use("--sweep takes the place of --run and --model, and one of them is given");
  if (given.command->count("--format") > 0 && given.options.format != "json")
    wrong_use("--sweep answers in JSON, not in '{}'", given.options.format);
  const auto ask = [&given](const std::string& directory) {
    Given one = given;
    one.run = directory;
    one.options.format = "json";
    one.options.output = directory + "/" + given.name + ".probe.json";
    run(one);
    const SweepJson report = parse_ordered_json(read_file(one.options.output), one.options.output);
    std::filesystem::remove(one.options.output);
    return probe_cells(report);
  };
  const SweepJson results =
      evaluate_sweep({.sweep = given.sweep,
                      .name = given.name,
                      .command = question_to_sweep(given.command, "probe cycle", given.name),
                      .evaluate = ask});
  OutputFile file(given.options.output);
  file.write(results.dump(1) + "\n");
  file.commit();
}

// One probe with the options that all have. `commands`, `spacing` and `count` are its defaults.
CLI::App* add_probe_of(CLI::App& probe, const std::shared_ptr<Given>& given,
                       const std::string& name, const std::string& summary,
                       const std::vector<std::string>& examples, std::uint64_t commands,
                       std::uint64_t spacing, std::uint64_t count) {
  ProbeOptions& options = given->options;
  options.probe = name;
  options.count = count;
  given->commands = commands;
  given->spacing = spacing;
  CLI::App* command = add_command(probe, name, summary, examples, [given] {
    given->sweep.empty() ? run(*given) : run_on_sweep(*given);
  });
  given->command = command;
  add_model_options(command, given->run, options.model, options.tokenizer, {"fp32", "fp64"});
  add_plugin_option(command, given->plugins);
  add_number(command, "--commands", given->commands, NumberBounds::whole(2, kMostCommands),
             "commands of a trace, or elements of a word: the length of an episode");
  add_number(command, "--spacing", given->spacing, kCommandBounds, "commands between two reveals");
  add_number(command, "--count", options.count, NumberBounds::whole(1, 1'000'000'000), "traces");
  add_number(command, "--seed", options.seed, kSmallSeedBounds,
             "an evaluation seed: training never sees its traces");
  add_answer_options(command, options.format, options.output);
  given->data.emplace(command);
  return command;
}

void add_intervene(CLI::App& probe) {
  const auto given = std::make_shared<Given>();
  ProbeOptions& options = given->options;
  CLI::App* command = add_probe_of(
      probe, given, "intervene",
      "Change what flows through a head, one head at a time, and count the revealed values that "
      "are still right.",
      {"shellgame probe intervene --run DIR",
       "shellgame probe intervene --model DIR --change ablate",
       "shellgame probe intervene --run DIR --change patch --tap v --layer 1 --format json",
       "shellgame probe intervene --run DIR --change clamp --amounts 2,1.5,1 --layer 1 --head 0"},
      64, 2, 64);
  add_words(command, "--change", options.change, {"scale", "clamp", "ablate", "patch", "round"},
            "times an amount; not above an amount; zero; that of another trace at the same token; "
            "to the nearest whole number, if no farther than an amount");
  command
      ->add_option(
          "--tap", options.tap,
          "what is changed: q, k, v, beta, decay, state, output, gates, block_input, mixed, "
          "block_output, ... (a name that the mixer lacks is answered with those it has); "
          "by default beta for scale, clamp and round, else output")
      ->type_name("NAME");
  add_numbers(command, "--amounts", options.amounts, NumberBounds::real(-1e6, 1e6),
              "of scale (by default 1,0.9,0.8,0.7,0.6,0.5), clamp (2,1.8,1.6,1.4,1.2,1) or "
              "round (0.01,0.03,0.1,0.3,0.5)")
      ->type_name("X,...");
  add_number(command, "--layer", options.layer, kPlaceBounds, "only this layer")
      ->default_str("all");
  add_number(command, "--head", options.head, kPlaceBounds, "only this head")->default_str("all");
}

void add_cycle(CLI::App& probe) {
  const auto given = std::make_shared<Given>();
  ProbeOptions& options = given->options;
  CLI::App* command = add_probe_of(
      probe, given, "cycle",
      "What is left of what a model knew after the same tokens came again and again, and why: "
      "norms, twins, rounded states, and the answer in closed form from one cycle.",
      {"shellgame probe cycle --run DIR --schedule M5.toml --set N=8,ending=c",
       "shellgame probe cycle --run DIR --schedule Z.toml --set N=8 --set ending=c --cycles "
       "1,16,256,2048 --rounded fp16 --format json",
       "shellgame probe cycle --sweep DIR --schedule M5.toml --set N=8 --set ending=c --name cycle "
       "--output cycle.json"},
      64, 2, 12);
  add_numbers(command, "--cycles", options.cycles, NumberBounds::whole(1, 1'000'000),
              "numbers of cycles after which the last question is asked, rising")
      ->type_name("N,...");
  add_numbers(command, "--measured", options.measured, NumberBounds::whole(0, 1'000'000),
              "cycles after which one is taken to predict all later ones (delta rule only)")
      ->type_name("N,...");
  command
      ->add_option("--rounded", options.rounded,
                   "formats to which the state is rounded after every token: fp16, bf16, fp32")
      ->type_name("FORMAT,...")
      ->delimiter(',')
      ->capture_default_str();
  command
      ->add_option("--sweep", given->sweep,
                   "every run of a sweep that has ended; the answer is its sweep.json with these "
                   "cells")
      ->type_name("DIR");
  command
      ->add_option("--name", given->name,
                   "with --sweep: each run keeps its part as evaluations/NAME.json")
      ->type_name("NAME")
      ->capture_default_str();
}

void add_custom(CLI::App& probe) {
  const auto given = std::make_shared<Given>();
  CLI::App* command = add_probe_of(
      probe, given, "custom",
      "A probe by its name, with settings as KEY=VALUE: one of a plug-in, say.",
      {"shellgame probe custom NAME --plugin FILE.so --run DIR --setting depth=2"}, 64, 2, 64);
  given->options.custom = true;
  command
      ->add_option("name", given->options.probe,
                   "a name of the library's table, or one that a plug-in has registered")
      ->type_name("NAME")
      ->required();
  command->add_option("--setting", given->settings, "a setting of the probe")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

}  // namespace

void add_probe(CLI::App& app) {
  CLI::App* probe = add_command(
      app, "probe", "Look inside a model: betas, keys, states, interventions, the tracking head.",
      {"shellgame probe find-tracker --run DIR", "shellgame probe betas --model DIR --group S5"});
  probe->require_subcommand(1);
  const auto betas = std::make_shared<Given>();
  add_probe_of(
      *probe, betas, "betas", "The distribution of beta, by layer and head and by kind of token.",
      {"shellgame probe betas --run DIR", "shellgame probe betas --model DIR --format csv"}, 512, 4,
      4);
  const auto keys = std::make_shared<Given>();
  add_probe_of(*probe, keys, "keys",
               "The keys' principal components, and what steps and whole commands do to the state.",
               {"shellgame probe keys --run DIR", "shellgame probe keys --model DIR --format json"},
               64, 4, 4);
  add_intervene(*probe);
  const auto state = std::make_shared<Given>();
  CLI::App* command = add_probe_of(
      *probe, state, "state",
      "Read the true state and the exact belief from each head's state, and move states from trace "
      "to trace.",
      {"shellgame probe state --run DIR",
       "shellgame probe state --model DIR --group S3 --moves swaps --uncertainty branching"},
      64, 2, 64);
  add_number(command, "--places", state->options.places, kStatePlaces,
             "commands of each trace after which states are read");
  const auto tracker = std::make_shared<Given>();
  command = add_probe_of(
      *probe, tracker, "find-tracker",
      "Name the head whose state holds the values, with the evidence, or say that there is none.",
      {"shellgame probe find-tracker --run DIR",
       "shellgame probe find-tracker --model DIR --group S5 --format json"},
      64, 2, 64);
  add_number(command, "--places", tracker->options.places, kStatePlaces,
             "commands of each trace after which states are read");
  add_cycle(*probe);
  add_custom(*probe);
}

}  // namespace shellgame
