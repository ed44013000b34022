// `shellgame evaluate`: how well a model tracks the state, in every measure that the field uses.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "shellgame/evaluate/evaluate_filter.h"
#include "shellgame/evaluate/filter_predictor.h"
#include "shellgame/sequences/sequence.h"
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/text/error.h"
#include "shellgame/tool/command.h"
#include "shellgame/tool/data_options.h"
#include "shellgame/tool/evaluate_options.h"
#include "shellgame/tool/plugins.h"
#include "shellgame/tool/run_source.h"
#include "shellgame/train/sweep_evaluation.h"

namespace shellgame {
namespace {

struct Given {
  std::optional<DataOptions> data;
  std::string run, sweep, name = "evaluation";
  std::vector<std::string> measures;
  std::vector<std::uint64_t> commands, spacing, seeds = {0};
  std::string mode = "teacher", bayes = "auto", format = "text", output = "-";
  std::string filter;  // instead of a model
  std::uint64_t window = 0;
  std::vector<std::string> plugins;
  CLI::App* command = nullptr;
  EvaluateOptions options;
};

constexpr std::array<std::string_view, 4> kModelPrecisions = {"fp32", "fp64", "bf16", "fp16"};
constexpr NumberBounds kLengthBounds = NumberBounds::whole(1, kMaxSequenceLength);

void write_report(const EvaluationReport& report, const std::string& format,
                  const std::string& output) {
  OutputFile file(output);
  if (format == "json") {
    file.write(to_json(report).dump(2) + "\n");
  } else {
    file.write(format == "csv" ? to_csv(report) : printable_lines(to_text(report)));
  }
  file.commit();
  if (format == "text") return;
  for (const std::string& note : report.notes) say("note: {}", note);
}

// With a filter a run gives its task and its tokenizer, and its model is not looked at.
std::optional<Experiment> task_of_run(const Given& given, EvaluateOptions& options) {
  if (!options.model.directory.empty())
    wrong_use("--filter takes the place of --model, and both are given");
  if (given.run.empty()) return {};
  Experiment experiment = read_experiment(given.run + "/experiment.toml");
  if (options.tokenizer.empty()) options.tokenizer = experiment.tokenizer;
  return experiment;
}

// What cells have in common: of a run what its stages have, of a model what it was made for.
DataSpec experiment_spec(const Experiment* run, const TaskRecord& record) {
  const bool has_axes = !find_data_kind(record.data.kind).axes.empty();
  return run != nullptr && has_axes ? run->task : record.data;
}

// Of the model of `given.run`, of a model's directory, or of a filter.
EvaluationReport report_of(const Given& given) {
  EvaluateOptions options = given.options;
  const std::optional<Experiment> run = given.filter.empty()
                                            ? open_run(given.run, options.model, options.tokenizer)
                                            : task_of_run(given, options);
  options.grid.seeds = given.seeds;
  options.grid.mode = given.mode == "free" ? EvaluationMode::kFree : EvaluationMode::kTeacher;
  options.grid.beliefs = given.bayes == "auto"     ? Beliefs::kAuto
                         : given.bayes == "always" ? Beliefs::kAlways
                                                   : Beliefs::kNever;
  const Experiment* experiment = run ? &*run : nullptr;
  const std::optional<TaskRecord> record = task_of_model(experiment, options.model.directory);
  DataSpec base;
  DataAxes axes;
  if (experiment != nullptr) axes = evaluation_axes(*experiment);
  if (record) base = experiment_spec(experiment, *record);
  DataOptions data = *given.data;
  for (const std::uint64_t number : given.commands)
    data.axes["commands"].push_back(fmt::format("{}", number));
  for (const std::uint64_t number : given.spacing)
    data.axes["spacing"].push_back(fmt::format("{}", number));
  options.grid.points = data.cells(record ? &base : nullptr, axes, options.grid.notes);
  if (record && experiment == nullptr && given.format == "text" && !given.data->says_something())
    options.grid.notes.push_back(
        fmt::format("the task is the model's own: {}", spec_json(base, false).dump()));
  if (record) options.grid.trained = *record;
  if (!given.filter.empty())
    return evaluate_filter(
        options.grid,
        {.filter = given.filter,
         .precision = given.command->count("--precision") > 0 ? options.model.precision : "",
         .window = given.window,
         // That of a run is for its own task.
         .tokenizer =
             options.grid.points.front()->is_text() ? options.tokenizer : given.options.tokenizer});
  if (std::ranges::find(kModelPrecisions, options.model.precision) == kModelPrecisions.end())
    wrong_use("--precision of a model must be {}, not '{}'", fmt::join(kModelPrecisions, ", "),
              options.model.precision);
  options.grid.model = options.model.directory;
  options.grid.precision = options.model.precision;
  return learn_commands().evaluate(options);
}

void check_measures(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const Metric& metric : evaluation_metrics()) all.emplace_back(metric.name);
  for (const std::string& name : names) {
    if (std::ranges::find(all, name) == all.end())
      wrong_use("--measures must be of {}, not '{}'", fmt::join(all, ", "), name);
  }
}

void run_on_sweep(const Given& given) {
  if (!given.run.empty() || !given.options.model.directory.empty() || !given.filter.empty())
    wrong_use("--sweep takes the place of --run, --model and --filter, and one of them is given");
  if (given.command->count("--format") > 0 && given.format != "json")
    wrong_use("--sweep answers in JSON, not in '{}'", given.format);
  check_measures(given.measures);
  const SweepJson results =
      evaluate_sweep({.sweep = given.sweep,
                      .name = given.name,
                      .command = question_to_sweep(given.command, "evaluate", given.name),
                      .measures = given.measures,
                      .evaluate = [&given](const std::string& directory) {
                        Given one = given;
                        one.run = directory;
                        one.format = "json";
                        return to_json(report_of(one));
                      }});
  OutputFile file(given.output);
  file.write(results.dump(1) + "\n");
  file.commit();
}

void run(const Given& given) {
  use_plugins(given.plugins);
  if (!given.sweep.empty()) return run_on_sweep(given);
  for (const char* option : {"--name", "--measures"}) {
    if (given.command->count(option) > 0) wrong_use("{} belongs to --sweep", option);
  }
  write_report(report_of(given), given.format, given.output);
}

}  // namespace

void add_evaluate(CLI::App& app) {
  auto given = std::make_shared<Given>();
  EvaluateOptions& options = given->options;
  CLI::App* command = add_command(
      app, "evaluate",
      "Judge a model at every reveal, on traces of any length or on sequences, against the Bayes "
      "optimum.",
      {"shellgame evaluate --run DIR --commands 64,128,256,512 --spacing 8,16,32 --count 100",
       "shellgame evaluate --model DIR --group S5 --commands 16384 --spacing 64 --count 4",
       "shellgame evaluate --model DIR --group S3 --moves swaps --uncertainty branching --show 2",
       "shellgame evaluate --run DIR --mode free --seed 0..4 --format json --output results.json",
       "shellgame evaluate --model DIR --kind parity --lengths 40,64,128,256",
       "shellgame evaluate --model DIR --data questions.jsonl",
       "shellgame evaluate --filter exact --data questions.jsonl",
       "shellgame evaluate --filter linear --precision bf16 --group S3 --moves swaps --uncertainty "
       "branching --commands 64,512",
       "shellgame evaluate --run DIR --schedule M5.toml --schedule Z.toml --set N=16,256 --format "
       "csv",
       "shellgame evaluate --sweep DIR --schedule M5.toml --measures miss,regret --name cycle "
       "--output cycle.json"},
      [given] { run(*given); });
  given->command = command;
  set_help(
      command->get_option("--threads"),
      "threads to use" + threads_default("") + ". Another number changes results by rounding only");
  add_model_options(command, given->run, options.model, options.tokenizer,
                    {"fp32", "fp64", "bf16", "fp16", "fp8-e4m3", "fp8-e5m2"});
  set_help(command->get_option("--precision"),
           "the numbers to compute with; of a filter fp64 by default, and fp8 only there");
  set_help(
      command->get_option("--tokenizer"),
      "lexeme, bytes, or a tokenizer.json; by default the model's own, if any, of a filter the "
      "one that a file of questions names");
  add_plugin_option(command, given->plugins);
  command
      ->add_option("--sweep", given->sweep,
                   "every run of a sweep that has ended; the answer is its sweep.json with these "
                   "cells")
      ->type_name("DIR");
  command
      ->add_option("--name", given->name,
                   "with --sweep: each run keeps its part as evaluations/NAME.json, and what is "
                   "there is not asked again")
      ->type_name("NAME")
      ->capture_default_str();
  command
      ->add_option("--measures", given->measures,
                   "with --sweep: keep only these, with commas; by default all")
      ->type_name("NAME,...")
      ->delimiter(',');
  std::vector<std::string> filters = filter_predictor_names();
  filters.insert(filters.begin(), "");
  add_words(command, "--filter", given->filter, filters,
            "instead of a model: a filter that reads the same tokens (exact, log, linear, gain, "
            "rational, sparse, marginal), Bayes with a short memory (window), or a baseline "
            "(uniform, last-seen)");
  add_number(command, "--window", given->window, NumberBounds::whole(0, 1'000'000'000),
             "with --filter window: Bayes restarted so many commands ago");
  add_numbers(command, "--commands", given->commands, kCommandBounds,
              "lengths of traces, with commas; by default those of the run's evaluation, else the "
              "task's");
  add_numbers(command, "--spacing", given->spacing, kCommandBounds,
              "commands between two reveals, with commas: every pair with --commands "
              "is a cell, unless its spacing is the larger");
  CLI::Option* lengths = command->add_option_function<std::string>(
      "--lengths",
      [given](const std::string& text) {
        std::vector<std::string>& all = given->data->axes["length"];
        all.clear();
        for (const std::string_view part : parts_between(text, ',')) {
          parse_span("--lengths", kLengthBounds, part);
          all.emplace_back(part);
        }
      },
      "lengths of sequences and counters, with commas; each is a cell, 40-256 draws from a range");
  declare_numbers(lengths->type_name("N,..."),
                  {{"--lengths", kLengthBounds}, {"--lengths", kLengthBounds, "40,1-{}"}});
  add_number(command, "--count", options.grid.count, NumberBounds::whole(1, 1'000'000'000),
             "traces of each cell and seed");
  add_numbers(command, "--seed", given->seeds, kSmallSeedBounds,
              "evaluation seeds: 0,1,2 or 0..4; training never sees the traces of any of them",
              /*ranges=*/true);
  add_words(command, "--mode", given->mode, {"teacher", "free"},
            "what stands at a reveal: the true value, or the model's own choice");
  add_words(command, "--bayes", given->bayes, {"auto", "always", "never"},
            "exact beliefs of uncertain tasks: where they are affordable, or as said");
  add_number(command, "--show", options.grid.show, NumberBounds::whole(0, 1'000'000'000),
             "print N traces, reveal by reveal");
  add_answer_options(command, given->format, given->output);
  add_number(command, "--positions", options.grid.positions, NumberBounds::whole(1, 1'000'000'000),
             "list at most N positions of reveals (JSON); further ones are pooled");
  add_number(command, "--confidence", options.grid.confidence, NumberBounds::real(0.01, 0.9999999),
             "of the bounds")
      ->type_name("P");
  command->add_flag("--composed", options.model.composed,
                    "use plain Torch operations instead of shellgame's kernels");
  add_number(command, "--rows", options.grid.rows, NumberBounds::whole(1, 1 << 20),
             "traces side by side");
  add_number(command, "--slice", options.grid.slice, NumberBounds::whole(0, 1 << 24),
             "tokens of a trace at once, what the model remembers is passed on; 0: as fits");
  add_number(command, "--max-memory", options.grid.most_memory_gib,
             NumberBounds::real(1e-3, 1 << 20),
             "GiB for models whose memory grows with the trace; by default four fifths of what is "
             "free")
      ->type_name("GIB")
      ->default_str("");
  given->data.emplace(command);
}

}  // namespace shellgame
