// `shellgame trace`: traces of a task, in every format, verified on the way if asked.
#include "shellgame/tasks/trace.h"

#include <fmt/format.h>

#include "shellgame/beliefs/predictions.h"
#include "shellgame/episodes/file_source.h"
#include "shellgame/episodes/trace_source.h"
#include "shellgame/sequences/word_problem.h"
#include "shellgame/system/error.h"
#include "shellgame/system/files.h"
#include "shellgame/system/memory.h"
#include "shellgame/system/messages.h"
#include "shellgame/system/progress.h"
#include "shellgame/system/saturating.h"
#include "shellgame/system/threads.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/tasks/task_keys.h"
#include "shellgame/tasks/trace_size.h"
#include "shellgame/tokens/shard.h"
#include "shellgame/tokens/token_maker.h"
#include "shellgame/tool/command.h"
#include "shellgame/tool/kind_questions.h"
#include "shellgame/tool/plugins.h"
#include "shellgame/tool/schedule_traces.h"
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

// Longer traces than this are made piece by piece.
constexpr std::uint64_t kWholeCommands = 1 << 16;
constexpr std::uint64_t kPieceCommands = 1 << 12;

// Traces are made in parallel, some at a time, and written in their order: the bytes do not depend
// on the threads.
class TraceWriter {
 public:
  explicit TraceWriter(const TraceOptions& options)
      : options_(options), sampler_(options.task->resolve()), maker_(sampler_) {
    if (options_.with_beliefs && options_.format != "jsonl")
      wrong_use("--with-beliefs needs --format jsonl, not {}", options_.format);
    if (options_.verify) replay_.emplace(options_.replay);
  }

  void run() {
    require_trace_in_memory();
    if (options_.format == "tokens") {
      write_tokens();
    } else if (options_.format == "questions") {
      write_questions();
    } else if (options_.format == "word-problem") {
      write_words();
    } else {
      write_text();
    }
    if (replay_) report_replay(replay_->finish(), "text", ReplayPlace::kMessages);
  }

 private:
  std::uint64_t commands() const {
    std::uint64_t most = sampler_.task().commands;
    for (const Stage& stage : sampler_.task().stages) most = std::max(most, stage.commands);
    return most;
  }

  // Long text goes out in pieces; all else holds a whole trace.
  bool in_pieces() const {
    return commands() > kWholeCommands && options_.format == "text" && !options_.verify;
  }

  void require_trace_in_memory() const {
    if (commands() <= kWholeCommands || in_pieces()) return;
    require_memory(saturating_multiply(commands(), trace_bytes_per_command(sampler_)),
                   fmt::format("a trace of {} commands that is made in one piece", commands()));
  }

  // How many traces are made at once: as many as take some megabytes.
  std::size_t block_size() const {
    const std::uint64_t events =
        saturating_multiply<std::uint64_t>(commands(), sampler_.names()->size() + 8);
    const std::uint64_t fit = std::max<std::uint64_t>(1, (std::uint64_t{1} << 22) / events);
    return static_cast<std::size_t>(std::min(std::max<std::uint64_t>(options_.count, 1), fit));
  }

  // Calls make(slot, index) in parallel and take(slot) in order, in blocks that fit memory.
  template <class Make, class Take>
  void in_order(const Make& make, const Take& take) {
    const std::uint64_t block = block_size();
    Progress progress("writing traces", "traces", options_.count);
    for (std::uint64_t done = 0; done < options_.count; done += block) {
      const std::uint64_t size = std::min(block, options_.count - done);
      // A few traces an item: small traces would drown in the cost of handing them out.
      const std::uint64_t items = std::min<std::uint64_t>(size, 64);
      parallel_for(items, [&](std::size_t item) {
        for (std::uint64_t i = size * item / items; i < size * (item + 1) / items; ++i) {
          make(i, options_.first_index + done + i);
        }
      });
      for (std::uint64_t i = 0; i < size; ++i) take(i, options_.first_index + done + i);
      progress.advance(size);
    }
  }

  void write_text() {
    OutputFile file(options_.output);
    const bool json = options_.format == "jsonl";
    if (in_pieces()) return write_streams(file);
    std::vector<Trace> traces(block_size());
    std::vector<std::string> lines(json ? traces.size() : 0);
    in_order(
        [&](std::uint64_t slot, std::uint64_t index) {
          maker_.make(options_.seed, index, traces[slot], json);
          if (!json) return;
          lines[slot].clear();
          if (!options_.with_beliefs) return maker_.append_json(traces[slot], lines[slot]);
          const RevealBeliefs beliefs = predictions(traces[slot].program, traces[slot].reveals);
          maker_.append_json(traces[slot], lines[slot], &beliefs);
        },
        [&](std::uint64_t slot, std::uint64_t index) {
          const Trace& trace = traces[slot];
          if (replay_) replay_->add(trace.index, trace.text.view(), trace.python_seed);
          if (json) {
            file.write(lines[slot]);
          } else {
            begin_text(file, index);
            file.write(trace.text.view());
          }
        });
    file.commit();
  }

  void begin_text(OutputFile& file, std::uint64_t index) {
    if (index != options_.first_index) file.write("\n");
    if (!options_.bare) file.write(maker_.header(options_.seed, index));
  }

  // Long traces: one piece in memory at a time.
  void write_streams(OutputFile& file) {
    Program piece;
    Buffer<char> text;
    Progress progress("writing traces", "commands",
                      saturating_multiply(options_.count, commands()));
    for (std::uint64_t index = options_.first_index; index < options_.first_index + options_.count;
         ++index) {
      begin_text(file, index);
      ProgramStream stream(sampler_, options_.seed, index);
      std::uint64_t done = 0;
      while (stream.next(piece, kPieceCommands)) {
        text.clear();
        std::uint64_t environment = piece.environment_before();
        maker_.cache().append(piece, text, done, environment, nullptr);
        file.write(text.view());
        progress.advance(kPieceCommands);
      }
    }
    file.commit();
  }

  void write_tokens() {
    if (options_.output == "-") {
      wrong_use(
          "--output must be a file for --format tokens, since the index is written beside it, not "
          "'-'");
    }
    const auto tokenizer = open_tokenizer(options_.tokenizer);
    const TokenMaker tokens(sampler_, *tokenizer);
    ShardIndex index;
    index.tokenizer = tokenizer->name();
    index.vocabulary_size = tokenizer->vocabulary_size();
    index.seed = options_.seed;
    index.first_index = options_.first_index;
    index.task = write_task(sampler_.task());
    ShardWriter shard(options_.output, index);
    std::vector<TokenTrace> traces(block_size());
    in_order([&](std::uint64_t slot,
                 std::uint64_t i) { tokens.make(options_.seed, i, traces[slot], false); },
             [&](std::uint64_t slot, std::uint64_t i) {
               shard.add(traces[slot].ids.data(), traces[slot].ids.size());
               shard.end_trace();
               if (!replay_) return;
               Trace& trace = traces[slot].trace;
               maker_.make(options_.seed, i, trace, false);
               replay_->add(i, trace.text.view(), trace.python_seed);
             });
    shard.commit();
  }

  // Token ids with the places at which a value is asked for, and the exact beliefs.
  void write_questions() {
    if (!sampler_.task().stages.empty()) wrong_use("--format questions takes no --stages");
    const auto tokenizer = open_tokenizer(options_.tokenizer);
    const TraceSource source(sampler_.task(), *tokenizer, {.seed = options_.seed});
    OutputFile file(options_.output);
    std::vector<std::string> lines(block_size());
    std::vector<Trace> traces(replay_ ? lines.size() : 0);
    in_order(
        [&](std::uint64_t slot, std::uint64_t index) {
          Piece piece;
          source.whole(index, piece);
          lines[slot] = question_line(piece, source.has_beliefs());
          if (replay_) maker_.make(options_.seed, index, traces[slot], false);
        },
        [&](std::uint64_t slot, std::uint64_t index) {
          file.write(lines[slot]);
          if (replay_) replay_->add(index, traces[slot].text.view(), traces[slot].python_seed);
        });
    file.commit();
  }

  // The same commands as element numbers, with their running products.
  void write_words() {
    const Task& task = sampler_.task();
    if (task.uncertain())
      wrong_use("--format word-problem needs --uncertainty none: its inputs are certain elements");
    if (sampler_.names()->size() > static_cast<std::size_t>(kMaxPoints)) {
      wrong_use("--format word-problem needs a group on at most {} points, not {}", kMaxPoints,
                task.group);
    }
    const NumberedGroup group = NumberedGroup::parse(task.group);
    OutputFile file(options_.output);
    file.write(kSequenceCsvHeader);
    std::vector<std::string> rows(block_size());
    std::vector<Trace> traces(replay_ ? rows.size() : 0);
    in_order(
        [&](std::uint64_t slot, std::uint64_t index) {
          const Program program = sampler_.sample(options_.seed, index);
          Sequence sequence;
          for (const Event& event : program.events()) {
            if (event.kind != EventKind::kPermute) continue;
            const Permute& permute = program.table().permutes[event.at];
            const std::vector<int> targets(permute.targets.begin(), permute.targets.end());
            const std::vector<int> sources(permute.sources.begin(), permute.sources.end());
            sequence.input.push_back(group.index_of(assignment(targets, sources)));
          }
          sequence.target = running_products(group, sequence.input, task.product);
          rows[slot] = csv_row(options_.seed, sequence);
          if (replay_) maker_.make(options_.seed, index, traces[slot], false);
        },
        [&](std::uint64_t slot, std::uint64_t index) {
          file.write(rows[slot]);
          if (replay_) replay_->add(index, traces[slot].text.view(), traces[slot].python_seed);
        });
    file.commit();
  }

  const TraceOptions& options_;
  Sampler sampler_;
  TraceMaker maker_;
  std::optional<Replay> replay_;
};

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
  write_kind_questions({.kind = options.kind,
                        .settings = options.schedule.settings,
                        .count = options.count,
                        .seed = options.seed,
                        .first_index = options.first_index,
                        .output = options.output,
                        .tokenizer = options.tokenizer});
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
      [options] {
        use_plugins(options->plugins);
        if (options->kind != "traces") return write_kind(*options);
        if (options->schedule.given()) {
          if (options->print_task) wrong_use("--print-task is for tasks, not for schedules");
          write_schedule_traces(
              {.cells = options->schedule.cells(),
               .count = options->count_option->count() > 0 ? options->count : kMostSigned,
               .seed = options->seed,
               .first_index = options->first_index,
               .format = options->format,
               .output = options->output,
               .tokenizer = options->tokenizer,
               .verify = options->verify,
               .bare = options->bare,
               .with_beliefs = options->with_beliefs,
               .replay = options->replay});
        } else if (options->print_task) {
          print_data(write_task(options->task->resolve()));
        } else {
          TraceWriter(*options).run();
        }
      });
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
      "the data: modulus=5");
  add_plugin_option(command, options->plugins);
  options->task.emplace(command);
}

}  // namespace shellgame
