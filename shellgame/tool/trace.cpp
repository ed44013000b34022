// `shellgame trace`: traces of a task, in every format, verified on the way if asked.
#include "shellgame/traces/trace.h"

#include <fmt/format.h>

#include <functional>

#include "shellgame/episodes/data_kind.h"
#include "shellgame/episodes/question_rows.h"
#include "shellgame/episodes/schedule_source.h"
#include "shellgame/episodes/schedule_writer.h"
#include "shellgame/episodes/trace_source.h"
#include "shellgame/episodes/trace_writer.h"
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/tasks/task_keys.h"
#include "shellgame/text/error.h"
#include "shellgame/tool/command.h"
#include "shellgame/tool/plugins.h"
#include "shellgame/tool/verify.h"

namespace shellgame {
namespace {

struct TraceOptions {
  std::optional<TaskOptions> task;
  std::uint64_t count = 1, seed = 0, first_index = 0;
  std::string format = "text", output = "-", tokenizer = "lexeme";
  bool verify = false, bare = false, print_task = false, with_beliefs = false;
  ReplayOptions replay;
  ScheduleOptions schedule;
  std::string kind = "traces";
  std::vector<std::string> plugins;
  CLI::Option* count_option = nullptr;
};

TraceForm form_of(const std::string& word) {
  if (word == "jsonl") return TraceForm::kJson;
  if (word == "tokens") return TraceForm::kTokens;
  return word == "word-problem" ? TraceForm::kWordProblem : TraceForm::kText;
}

// Calls write with a replay, or with null if none is asked for, and reports what the replay found.
void with_replay(const TraceOptions& options, const std::function<void(Replay*)>& write) {
  if (!options.verify) return write(nullptr);
  Replay replay(options.replay);
  write(&replay);
  report_replay(replay.finish(), "text", ReplayPlace::kMessages);
}

// Rows with the places at which a value is asked for, of any data; `replay` gets what a row is
// from.
void write_rows(const TraceOptions& options, const std::vector<SharedData>& data,
                const std::function<void(const QuestionPlace&)>& replay = {}) {
  const auto tokenizer =
      data.front()->is_text() ? open_tokenizer(options.tokenizer) : std::unique_ptr<Tokenizer>();
  OutputFile file(options.output);
  write_questions(
      data, options.seed,
      {.first = options.first_index, .count = options.count, .tokenizer = tokenizer.get()},
      [&](const QuestionPlace& place, std::string_view line) {
        file.write(line);
        if (replay) replay(place);
      });
  file.commit();
}

TraceFileOptions file_options(const TraceOptions& options, Replay* replay) {
  if (options.with_beliefs && options.format != "jsonl")
    wrong_use("--with-beliefs needs --format jsonl, not {}", options.format);
  return {.count = options.count,
          .seed = options.seed,
          .first_index = options.first_index,
          .output = options.output,
          .headers = !options.bare,
          .beliefs = options.with_beliefs,
          .replay = replay};
}

void write_task_traces(const TraceOptions& options, Replay* replay) {
  const Task task = options.task->resolve();
  TraceFileOptions file = file_options(options, replay);
  if (options.format == "questions") {
    if (!task.stages.empty()) wrong_use("--format questions takes no --stages");
    const Sampler sampler(task);
    const TraceMaker maker(sampler);
    Trace trace;
    const auto replay_row = [&](const QuestionPlace& place) {
      if (replay == nullptr) return;
      maker.make(options.seed, place.index, trace, false);
      replay->add(place.index, trace.text.view(), trace.python_seed);
    };
    return write_rows(options, {std::make_shared<TraceData>(task)}, replay_row);
  }
  if (options.format != "tokens") return write_traces(task, form_of(options.format), file);
  if (options.output == "-")
    wrong_use(
        "--output must be a file for --format tokens, since the index is written beside it, not "
        "'-'");
  const auto tokenizer = open_tokenizer(options.tokenizer);
  file.tokenizer = tokenizer.get();
  write_traces(task, TraceForm::kTokens, file);
}

void write_schedule(TraceOptions options, Replay* replay) {
  if (options.print_task) wrong_use("--print-task is for tasks, not for schedules");
  if (options.count_option->count() == 0) options.count = kMostSigned;
  const SchedulePlans cells = options.schedule.cells();
  const TraceFileOptions file = file_options(options, replay);
  if (options.format == "text" || options.format == "jsonl")
    return write_schedule_traces(cells, form_of(options.format), file);
  if (options.format != "questions")
    wrong_use("--schedule needs --format text, jsonl or questions, not {}", options.format);
  std::vector<SharedData> data;
  for (const auto& cell : cells) data.push_back(std::make_shared<ScheduleData>(cell));
  write_rows(options, data, [&](const QuestionPlace& place) {
    if (replay != nullptr)
      replay_schedule_trace(*replay, *cells[place.data], options.seed, place.row, place.index);
  });
}

// Other kinds of data have no text to write, only rows with questions.
void write_kind(const TraceOptions& options) {
  if (options.format != "questions")
    wrong_use("--kind {} needs --format questions, not {}", options.kind, options.format);
  if (options.schedule.given() || options.task->has_file() || options.print_task)
    wrong_use("--kind {} takes --set KEY=VALUE, no --schedule, --task or --print-task",
              options.kind);
  for (const TaskKey& key : task_keys()) {
    if (options.task->given(key.name) != nullptr)
      wrong_use("--{} is for traces; a key of the kind '{}' is --set KEY=VALUE", key.name,
                options.kind);
  }
  if (options.verify || options.with_beliefs || options.bare)
    wrong_use("--verify, --with-beliefs and --bare are for traces, and the kind is '{}'",
              options.kind);
  DataSpec spec{.kind = options.kind};
  for (const std::string& several : options.schedule.settings) {
    for (const std::string& setting : split_settings(several)) {
      const auto [key, value] = key_and_value(setting);
      spec.settings[key] = value;
    }
  }
  const SharedData data = spec.make();
  const std::string silence = data->silence();
  if (!silence.empty()) wrong_use("{}", silence);
  write_rows(options, {data});
}

void run(const TraceOptions& options) {
  use_plugins(options.plugins);
  if (options.kind != "traces") return write_kind(options);
  if (!options.schedule.given() && options.print_task)
    return print_data(write_task(options.task->resolve()));
  with_replay(options, [&](Replay* replay) {
    options.schedule.given() ? write_schedule(options, replay) : write_task_traces(options, replay);
  });
}

}  // namespace

void add_trace(CLI::App& app) {
  auto options = std::make_shared<TraceOptions>();
  CLI::App* command = add_command(
      app, "trace",
      "Make traces: doctest-valid text of a Python shell that shuffles variables and reveals some.",
      {"shellgame trace --group S3 --moves swaps --commands 8 --spacing 2",
       "shellgame trace --group S5 --commands 64 --spacing 8 --count 10000 --format jsonl --output "
       "traces.jsonl --verify",
       "shellgame trace --uncertainty branching --probability 0.5 --count 3",
       "shellgame trace --count 1000 --format tokens --output shard.bin",
       "shellgame trace --group A5 --commands 20 --count 100 --format word-problem --output "
       "A5=20.csv",
       "shellgame trace --uncertainty branching --format jsonl --with-beliefs",
       "shellgame trace --task task.toml --print-task",
       "shellgame trace --schedule M5.toml --set N=4 --format jsonl --with-beliefs --verify",
       "shellgame trace --kind counters --set modulus=5 --count 1000 --format questions --output "
       "counters.jsonl"},
      [options] { run(*options); });
  options->count_option = add_number(command, "--count", options->count, kCountBounds,
                                     "traces to make (of a schedule: all, if not given)");
  add_number(command, "--seed", options->seed, kSeedBounds, "the seed of all draws");
  add_number(command, "--first-index", options->first_index, kIndexBounds,
             "the index of the first trace");
  add_words(command, "--format", options->format,
            {"text", "jsonl", "tokens", "questions", "word-problem"}, "the form of the output");
  command->add_option("-o,--output", options->output, "a file, or - for standard output")
      ->type_name("PATH")
      ->capture_default_str();
  command
      ->add_option("--tokenizer", options->tokenizer,
                   "for --format tokens and questions: lexeme, bytes or a tokenizer.json")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_flag("--verify", options->verify,
                    "replay every trace in CPython; the report goes to standard error");
  add_replay_options(command, options->replay);
  command->add_flag("--with-beliefs", options->with_beliefs,
                    "jsonl: each reveal also has its exact predictive distribution, the "
                    "Bayes-optimal label");
  command->add_flag("--bare", options->bare,
                    "text without the comment that states generator, seed and index");
  command->add_flag("--print-task", options->print_task,
                    "print the resolved task as TOML and stop");
  options->schedule.add(command);
  command
      ->add_option("--kind", options->kind,
                   "with --format questions: rows of another kind of data, with --set KEY=VALUE "
                   "for its keys (shellgame help --kinds)")
      ->type_name("KIND")
      ->capture_default_str();
  command->get_option("--set")->description(
      "numbers of a schedule's parameter, or its endings: N=1,4 or ending=c; with --kind a key of "
      "the data: modulus=5; several in one (N=8,ending=c) or one by one");
  add_plugin_option(command, options->plugins);
  options->task.emplace(command);
}

}  // namespace shellgame
