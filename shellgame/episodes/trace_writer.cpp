#include "shellgame/episodes/trace_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "shellgame/sequences/word_problem.h"
#include "shellgame/system/files.h"
#include "shellgame/system/memory.h"
#include "shellgame/system/progress.h"
#include "shellgame/system/saturating.h"
#include "shellgame/system/threads.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/text/error.h"
#include "shellgame/tokens/shard.h"
#include "shellgame/tokens/token_maker.h"
#include "shellgame/traces/predictions.h"
#include "shellgame/traces/trace.h"
#include "shellgame/traces/trace_size.h"

namespace shellgame {
namespace {

// Longer traces than this are made piece by piece.
constexpr std::uint64_t kWholeCommands = 1 << 16;
constexpr std::uint64_t kWrittenCommands = 1 << 12;

// Traces are made in parallel, some at a time, and written in their order: the bytes do not depend
// on the threads.
class TraceWriter {
 public:
  TraceWriter(const Task& task, TraceForm form, const TraceFileOptions& options)
      : form_(form), options_(options), sampler_(task), maker_(sampler_) {}

  void run() {
    require_trace_in_memory();
    switch (form_) {
      case TraceForm::kTokens:
        return write_tokens();
      case TraceForm::kWordProblem:
        return write_words();
      case TraceForm::kText:
      case TraceForm::kJson:
        return write_text();
    }
  }

 private:
  std::uint64_t commands() const {
    std::uint64_t most = sampler_.task().commands;
    for (const Stage& stage : sampler_.task().stages) most = std::max(most, stage.commands);
    return most;
  }

  // Long text goes out in pieces; all else holds a whole trace.
  bool in_pieces() const {
    return commands() > kWholeCommands && form_ == TraceForm::kText && options_.replay == nullptr;
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
    const bool json = form_ == TraceForm::kJson;
    if (in_pieces()) return write_streams(file);
    std::vector<Trace> traces(block_size());
    std::vector<std::string> lines(json ? traces.size() : 0);
    in_order(
        [&](std::uint64_t slot, std::uint64_t index) {
          maker_.make(options_.seed, index, traces[slot], json);
          if (!json) return;
          lines[slot].clear();
          if (!options_.beliefs) return maker_.append_json(traces[slot], lines[slot]);
          const RevealBeliefs beliefs = predictions(traces[slot].program, traces[slot].reveals);
          maker_.append_json(traces[slot], lines[slot], &beliefs);
        },
        [&](std::uint64_t slot, std::uint64_t index) {
          const Trace& trace = traces[slot];
          if (options_.replay != nullptr)
            options_.replay->add(trace.index, trace.text.view(), trace.python_seed);
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
    if (options_.headers) file.write(maker_.header(options_.seed, index));
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
      while (stream.next(piece, kWrittenCommands)) {
        text.clear();
        std::uint64_t environment = piece.environment_before();
        maker_.cache().append(piece, text, done, environment, nullptr);
        file.write(text.view());
        progress.advance(kWrittenCommands);
      }
    }
    file.commit();
  }

  void write_tokens() {
    if (options_.output == "-")
      wrong_use(
          "traces as tokens need a file, since their index is written beside it, not standard "
          "output");
    if (options_.tokenizer == nullptr) wrong_use("traces as tokens need a tokenizer");
    const Tokenizer* tokenizer = options_.tokenizer;
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
               if (options_.replay == nullptr) return;
               Trace& trace = traces[slot].trace;
               maker_.make(options_.seed, i, trace, false);
               options_.replay->add(i, trace.text.view(), trace.python_seed);
             });
    shard.commit();
  }

  // The same commands as element numbers, with their running products.
  void write_words() {
    const Task& task = sampler_.task();
    if (task.uncertain())
      wrong_use("a word problem needs a task without uncertainty: its inputs are certain elements");
    if (sampler_.names()->size() > static_cast<std::size_t>(kMaxPoints)) {
      wrong_use("a word problem needs a group on at most {} points, not {}", kMaxPoints,
                task.group);
    }
    const NumberedGroup group = NumberedGroup::parse(task.group);
    OutputFile file(options_.output);
    file.write(kSequenceCsvHeader);
    std::vector<std::string> rows(block_size());
    std::vector<Trace> traces(options_.replay != nullptr ? rows.size() : 0);
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
          if (options_.replay != nullptr) maker_.make(options_.seed, index, traces[slot], false);
        },
        [&](std::uint64_t slot, std::uint64_t index) {
          file.write(rows[slot]);
          if (options_.replay != nullptr)
            options_.replay->add(index, traces[slot].text.view(), traces[slot].python_seed);
        });
    file.commit();
  }

  TraceForm form_;
  const TraceFileOptions& options_;
  Sampler sampler_;
  TraceMaker maker_;
};

}  // namespace

void write_traces(const Task& task, TraceForm form, const TraceFileOptions& options) {
  TraceWriter(task, form, options).run();
}

}  // namespace shellgame
