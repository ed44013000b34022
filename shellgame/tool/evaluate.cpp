// `shellgame evaluate`: how well a model tracks the state, in every measure that the field uses.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "shellgame/episodes/file_source.h"
#include "shellgame/episodes/schedule_source.h"
#include "shellgame/episodes/sequence_source.h"
#include "shellgame/episodes/trace_source.h"
#include "shellgame/evaluate/filter_predictor.h"
#include "shellgame/system/error.h"
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/tasks/task_keys.h"
#include "shellgame/tool/command.h"
#include "shellgame/tool/evaluate_options.h"
#include "shellgame/tool/plugins.h"
#include "shellgame/tool/run_source.h"

namespace shellgame {
namespace {

// Lengths of sequences, each from a number to another.
using Spans = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

struct Given {
  std::optional<TaskOptions> task;
  std::string run, sequence, data;
  std::vector<std::uint64_t> commands, spacing, seeds = {0};
  Spans lengths;
  std::string mode = "teacher", bayes = "auto", format = "text", output = "-";
  std::string filter;  // instead of a model
  std::uint64_t window = 0;
  std::vector<std::string> plugins;
  CLI::App* command = nullptr;
  EvaluateOptions options;
  ScheduleOptions schedule;
};

constexpr std::array<std::string_view, 4> kModelPrecisions = {"fp32", "fp64", "bf16", "fp16"};
constexpr NumberBounds kLengthBounds = NumberBounds::whole(1, kMaxSequenceLength);

// Each length is a cell; "40-256" draws lengths from a range. Expressions have odd lengths: an even
// one means the next smaller.
std::vector<SharedData> sequence_cells(const SequenceSpec& spec, const Spans& spans) {
  if (spans.empty()) return {std::make_shared<SequenceData>(spec)};
  std::vector<SharedData> cells;
  for (const auto& [min, max] : spans) {
    if (max > min && spec.kind == "word-problem") {
      wrong_use("a word problem has one length, not the range '{}-{}'", min, max);
    }
    SequenceSpec cell = spec;
    const bool one_less = spec.kind == "modular-arithmetic" && min == max && min % 2 == 0;
    cell.min = static_cast<std::uint32_t>(min) - (one_less ? 1 : 0);
    cell.max = static_cast<std::uint32_t>(max) - (one_less ? 1 : 0);
    make_sequence_task(cell);  // refuses lengths that the kind does not have
    cells.push_back(std::make_shared<SequenceData>(cell));
  }
  return cells;
}

void resolve_sequences(const Given& given, const Experiment* run, EvaluateOptions& options) {
  SequenceSpec spec;
  if (run != nullptr && run->sequence) {
    spec = run->stages.back().sequence.value_or(*run->sequence);
  }
  if (!given.sequence.empty()) spec.kind = given.sequence;
  for (const TaskKey& key : task_keys()) {
    const bool of_words =
        spec.kind == "word-problem" && (key.name == "group" || key.name == "product");
    if (given.task->given(key.name) != nullptr && !of_words)
      wrong_use("--{} is for traces, and what is asked here is {}", key.name, spec.kind);
  }
  if (const std::string* group = given.task->given("group")) spec.group = *group;
  if (const std::string* product = given.task->given("product")) {
    if (*product != "right" && *product != "left") {
      wrong_use("--product must be right or left, not '{}'", *product);
    }
    spec.product = *product == "right" ? Multiplication::kRight : Multiplication::kLeft;
  }
  if (!given.commands.empty() || !given.spacing.empty()) {
    wrong_use("sequences have --lengths, not --commands and --spacing");
  }
  if (given.mode == "free") {
    wrong_use("--mode free is for traces: a sequence's answers are not read by the model");
  }
  Spans lengths = given.lengths;
  if (lengths.empty() && run != nullptr) {
    for (const std::uint64_t length : run->evaluation.lengths) lengths.emplace_back(length, length);
  }
  options.grid.points = sequence_cells(spec, lengths);
}

// The task of the run or of the options. Lengths that are not given are those of the run's
// evaluation or of its last stage, else the task's own (of its last stage: that is what a
// curriculum is for).
void resolve_traces(const Given& given, const Experiment* run, EvaluateOptions& options) {
  if (!given.lengths.empty()) wrong_use("traces have --commands and --spacing, not --lengths");
  const Task task = trace_task(*given.task, run);
  std::vector<std::uint64_t> commands = {task.commands}, spacings = {task.spacing};
  if (run != nullptr && !run->sequence && !given.task->has_file()) {
    const EvaluationSettings& points = run->evaluation;
    const StageSettings& last = run->stages.back();
    commands = points.commands.empty() ? last.commands : points.commands;
    spacings = points.spacing.empty() ? last.spacing : points.spacing;
  }
  if (!given.commands.empty()) commands = given.commands;
  if (!given.spacing.empty()) spacings = given.spacing;
  options.grid.points = trace_grid(task, commands, spacings, options.grid.notes);
}

void resolve_file(const Given& given, EvaluateOptions& options) {
  for (const TaskKey& key : task_keys()) {
    if (given.task->given(key.name) != nullptr)
      wrong_use("--{} is for traces, and what is asked here is a file", key.name);
  }
  if (given.task->has_file() || !given.sequence.empty() || !given.commands.empty() ||
      !given.spacing.empty() || !given.lengths.empty())
    wrong_use("--data takes no --task, --sequence, --commands, --spacing or --lengths");
  options.grid.points = {std::make_shared<FileData>(given.data)};
}

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

EvaluationReport evaluate_filter(const Given& given, EvaluateOptions& options) {
  const Data& first = *options.grid.points.front();
  if (!first.is_text()) wrong_use("--filter reads traces, and these data are no text");
  const std::string precision =
      given.command->count("--precision") > 0 ? options.model.precision : "fp64";
  const auto tokenizer = open_tokenizer(options.tokenizer.empty() ? "lexeme" : options.tokenizer);
  FilterPredictor filter(
      *tokenizer, parse_filter_predictor(given.filter, parse_precision(precision), given.window));
  if (given.filter == "gain") {
    // One gain a symbol, from traces of training seeds.
    constexpr std::uint64_t kTraces = 16;
    for (const SharedData& data : options.grid.points)
      filter.fit_gains(*data->source(tokenizer.get(), {.seed = 0, .beliefs = false}), 0, kTraces);
  }
  options.grid.model = "filter " + given.filter;
  if (given.window > 0) options.grid.model += fmt::format(" of {} commands", given.window);
  options.grid.precision = precision;
  return evaluate_grid(options.grid, filter, tokenizer.get());
}

void resolve_schedules(const Given& given, EvaluateOptions& options) {
  for (const TaskKey& key : task_keys()) {
    if (given.task->given(key.name) != nullptr)
      wrong_use("--{} is for drawn traces, and what is asked here is a schedule", key.name);
  }
  if (given.task->has_file() || !given.data.empty() || !given.sequence.empty() ||
      !given.commands.empty() || !given.spacing.empty() || !given.lengths.empty())
    wrong_use("--schedule takes no --task, --data, --sequence, --commands, --spacing or --lengths");
  for (auto& cell : given.schedule.cells())
    options.grid.points.push_back(std::make_shared<ScheduleData>(std::move(cell)));
}

void run(const Given& given) {
  EvaluateOptions options = given.options;
  use_plugins(given.plugins);
  const std::optional<Experiment> run = given.filter.empty()
                                            ? open_run(given.run, options.model, options.tokenizer)
                                            : task_of_run(given, options);
  options.grid.seeds = given.seeds;
  options.grid.mode = given.mode == "free" ? EvaluationMode::kFree : EvaluationMode::kTeacher;
  options.grid.beliefs = given.bayes == "auto"     ? Beliefs::kAuto
                         : given.bayes == "always" ? Beliefs::kAlways
                                                   : Beliefs::kNever;
  const Experiment* experiment = run ? &*run : nullptr;
  const bool other_task = given.task->has_file() || given.task->given("moves") != nullptr;
  if (given.schedule.given()) {
    resolve_schedules(given, options);
  } else if (!given.data.empty()) {
    resolve_file(given, options);
  } else if (!given.sequence.empty() || (run && run->sequence && !other_task)) {
    resolve_sequences(given, experiment, options);
  } else {
    resolve_traces(given, experiment, options);
  }
  if (!given.filter.empty())
    return write_report(evaluate_filter(given, options), given.format, given.output);
  if (std::ranges::find(kModelPrecisions, options.model.precision) == kModelPrecisions.end())
    wrong_use("--precision of a model must be {}, not '{}'", fmt::join(kModelPrecisions, ", "),
              options.model.precision);
  options.grid.model = options.model.directory;
  options.grid.precision = options.model.precision;
  write_report(learn_commands().evaluate(options), given.format, given.output);
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
       "shellgame evaluate --model DIR --sequence parity --lengths 40,64,128,256",
       "shellgame evaluate --model DIR --data questions.jsonl",
       "shellgame evaluate --filter linear --precision bf16 --group S3 --moves swaps --uncertainty "
       "branching --commands 64,512",
       "shellgame evaluate --run DIR --schedule M5.toml --schedule Z.toml --set N=16,256 --format "
       "csv"},
      [given] { run(*given); });
  given->command = command;
  set_help(
      command->get_option("--threads"),
      "threads to use" + threads_default("") + ". Another number changes results by rounding only");
  add_model_options(command, given->run, options.model, options.tokenizer,
                    {"fp32", "fp64", "bf16", "fp16", "fp8-e4m3", "fp8-e5m2"});
  set_help(command->get_option("--precision"),
           "the numbers to compute with; of a filter fp64 by default, and fp8 only there");
  add_plugin_option(command, given->plugins);
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
  command
      ->add_option(
          "--data", given->data,
          "instead of traces: a file of questions, as 'trace --format questions' writes it "
          "(docs/formats.md); its lines from the first on, whatever the seed")
      ->type_name("FILE");
  command
      ->add_option(
          "--sequence", given->sequence,
          "instead of traces: parity, modular-arithmetic or word-problem (with --group and "
          "--product)")
      ->type_name("KIND")
      ->check(CLI::IsMember({"parity", "modular-arithmetic", "word-problem"}));
  CLI::Option* lengths = command->add_option_function<std::string>(
      "--lengths",
      [given](const std::string& text) {
        given->lengths.clear();
        for (const std::string_view part : parts_between(text, ','))
          given->lengths.push_back(parse_span("--lengths", kLengthBounds, part));
      },
      "lengths of sequences, with commas; each is a cell, 40-256 draws from a range");
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
  given->schedule.add(command);
  given->task.emplace(command, std::vector<std::string>{"commands", "spacing", "stages"});
}

}  // namespace shellgame
