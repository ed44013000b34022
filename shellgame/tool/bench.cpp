// `shellgame bench`, and `bench trace|tokens`: rates as JSON, each beside something else that was
// measured in the same run. The things compared take turns, so that a busy moment of a shared
// machine hits them alike; medians are reported.
#include <fmt/format.h>

#include <cstring>

#include "generated_bench_script.h"
#include "shellgame/episodes/batcher.h"
#include "shellgame/episodes/trace_source.h"
#include "shellgame/replay/replay.h"
#include "shellgame/system/files.h"
#include "shellgame/system/memory.h"
#include "shellgame/system/process.h"
#include "shellgame/system/saturating.h"
#include "shellgame/system/threads.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/text/error.h"
#include "shellgame/tokens/lexeme_tokenizer.h"
#include "shellgame/tokens/throughput.h"
#include "shellgame/tool/measure.h"
#include "shellgame/traces/trace.h"
#include "shellgame/traces/trace_size.h"

namespace shellgame {
namespace {

struct BenchOptions {
  std::optional<TaskOptions> task;
  double seconds = 0.5;
  int rounds = 5;
  std::string python = "python3", output = "-", tokenizer = "lexeme", input;
};

// Bytes of text a second, on all threads of the pool; the text is made and dropped.
double text_rate(const TraceMaker& maker, double seconds) {
  std::uint64_t next = 0;
  return rate_of(seconds, [&] {
    constexpr std::size_t kItems = 256, kTraces = 32;
    std::vector<std::size_t> bytes(kItems);
    parallel_for(kItems, [&](std::size_t item) {
      static thread_local Trace trace;
      std::size_t sum = 0;  // not in bytes[item]: neighbours of it belong to other threads
      for (std::uint64_t i = 0; i < kTraces; ++i) {
        maker.make(0, next + item * kTraces + i, trace, false);
        sum += trace.text.size();
      }
      bytes[item] = sum;
    });
    next += kItems * kTraces;
    std::size_t sum = 0;
    for (std::size_t b : bytes) sum += b;
    return sum;
  });
}

// Tokens a second into batches of 64 rows, with targets and places of answers.
double batch_rate(const Task& task, const Tokenizer& tokenizer, double seconds) {
  BatchPlan plan{.rows = 64, .steps = 1'000'000'000};
  plan.sources.push_back(std::make_unique<TraceSource>(task, tokenizer, SourceOptions()));
  Batcher batcher(std::move(plan));
  std::int64_t step = 0;
  Batch batch;
  return rate_of(seconds, [&] {
    batcher.batch(step++, 0, batch);
    return static_cast<std::size_t>(batch.tokens);
  });
}

double copy_rate(std::size_t bytes, double seconds) {
  // Half a page apart, since addresses that agree in their last 12 bits slow a copy down.
  std::vector<char> memory(2 * bytes + 2048, 'x');
  char *from = memory.data(), *to = memory.data() + bytes + 2048;
  const std::size_t times = std::max<std::size_t>(1, (std::size_t{1} << 22) / bytes);
  return rate_of(seconds, [&] {
    for (std::size_t i = 0; i < times; ++i) {
      std::memcpy(to, from, bytes);
      from[i % bytes] = to[bytes / 2];  // so that no copy is dropped
    }
    return bytes * times;
  });
}

double python_rate(const BenchOptions& options, const Task& task) {
  const std::string words = fmt::format("{}", options.seconds);
  Process child(
      {options.python, "-c", kGenerateTraces, words, std::to_string(group_degree(task.group)),
       std::to_string(task.commands), std::to_string(task.spacing)},
      {});
  std::string said;
  std::string_view nothing;
  while (child.exchange(nothing, said, std::chrono::milliseconds(1000))) {
  }
  double bytes = 0, traces = 0, seconds = 0;
  if (std::sscanf(said.c_str(), "%lf %lf %lf", &bytes, &traces, &seconds) != 3 || seconds <= 0) {
    fail("'{}' must run the Python generator; it ended with {}", options.python,
         child.end(std::chrono::seconds(1)));
  }
  return bytes / seconds;
}

double verified_rate(const TraceMaker& maker, const std::string& python, int processes,
                     double seconds) {
  ReplayOptions options;
  options.python = python;
  options.processes = processes;
  Replay replay(options);
  Trace trace;
  const auto start = Clock::now();
  std::uint64_t index = 0;
  for (; seconds_since(start) < seconds; ++index) {
    maker.make(0, index, trace, false);
    replay.add(index, trace.text.view(), trace.python_seed);
  }
  const ReplayReport report = replay.finish();
  if (!report.passed()) fail("{} outputs differ from what CPython prints", report.mismatches);
  return static_cast<double>(report.traces) / seconds_since(start);
}

Json summary(const std::vector<double>& rates, double scale) {
  Json all = Json::array();
  for (double rate : rates) all.push_back(rate / scale);
  return {{"median", median(rates) / scale}, {"rounds", all}};
}

void bench_trace(const BenchOptions& options) {
  const Task task = options.task->resolve();
  Task yardstick;  // what the Python generator can do
  yardstick.group = task.group;
  yardstick.commands = task.commands;
  yardstick.spacing = task.spacing;
  if (!(task == yardstick) || !task.group.starts_with('S') ||
      task.group.find('x') != std::string::npos || group_degree(task.group) > 26) {
    wrong_use(
        "bench trace compares with a Python generator of S_n, n <= 26, full permutations and "
        "printed reveals: only "
        "group, commands and spacing may differ from the defaults");
  }
  const Sampler sampler(task);
  require_memory(saturating_multiply(trace_bytes_per_command(sampler), task.commands),
                 fmt::format("a trace of {} commands", task.commands));
  const TraceMaker maker(sampler);
  const LexemeTokenizer lexemes;
  std::vector<double> text1, text2, batch1, batch2, python, copy, small_copy, verified1, verified2;
  for (int round = 0; round < options.rounds; ++round) {
    set_thread_count(1);
    text1.push_back(text_rate(maker, options.seconds));
    batch1.push_back(batch_rate(task, lexemes, options.seconds));
    python.push_back(python_rate(options, task));
    copy.push_back(copy_rate(std::size_t{64} << 20, options.seconds));
    small_copy.push_back(copy_rate(std::size_t{64} << 10, options.seconds / 4));
    set_thread_count(2);
    text2.push_back(text_rate(maker, options.seconds));
    batch2.push_back(batch_rate(task, lexemes, options.seconds));
    verified1.push_back(verified_rate(maker, options.python, 1, options.seconds));
    verified2.push_back(verified_rate(maker, options.python, 2, options.seconds));
  }
  const Json report = {
      {"bench", "trace"},
      {"generator", kGeneratorVersion},
      {"task", write_task(task)},
      {"cores", default_thread_count()},
      {"rounds", options.rounds},
      {"text_MB_per_s", {{"threads_1", summary(text1, 1e6)}, {"threads_2", summary(text2, 1e6)}}},
      {"batch_million_tokens_per_s",
       {{"threads_1", summary(batch1, 1e6)}, {"threads_2", summary(batch2, 1e6)}}},
      {"python_generator_MB_per_s", summary(python, 1e6)},
      {"memory_copy_MB_per_s",
       {{"64_MiB", summary(copy, 1e6)}, {"64_KiB", summary(small_copy, 1e6)}}},
      {"verified_traces_per_s",
       {{"processes_1", summary(verified1, 1)}, {"processes_2", summary(verified2, 1)}}},
      {"ratios",
       {{"text_over_python", median(text1) / median(python)},
        {"text_two_threads_over_one", median(text2) / median(text1)},
        {"batch_two_threads_over_one", median(batch2) / median(batch1)},
        {"text_over_memory_copy", median(text1) / median(copy)}}}};
  write_file(options.output, report.dump(2) + "\n");
}

void bench_tokens(const BenchOptions& options) {
  const auto tokenizer = open_tokenizer(options.tokenizer);
  std::string text;
  if (options.input.empty()) {
    const Sampler sampler{Task()};
    const TraceMaker maker(sampler);
    Trace trace;
    while (text.size() < 4'000'000) {
      maker.make(0, trace.index + 1, trace, false);
      text += trace.text.view();
    }
  } else {
    text = read_input(options.input);
  }
  std::vector<double> rates, copies;
  for (int round = 0; round < options.rounds; ++round) {
    rates.push_back(tokenizer_throughput(*tokenizer, text, options.seconds));
    copies.push_back(copy_rate(std::max<std::size_t>(text.size(), 1), options.seconds / 4));
  }
  const Json report = {{"bench", "tokens"},
                       {"tokenizer", tokenizer->name()},
                       {"input", options.input.empty() ? "traces" : options.input},
                       {"bytes", text.size()},
                       {"encode_MB_per_s", summary(rates, 1e6)},
                       {"memory_copy_MB_per_s", summary(copies, 1e6)}};
  write_file(options.output, report.dump(2) + "\n");
}

void add_common(CLI::App* command, const std::shared_ptr<BenchOptions>& options) {
  add_number(command, "--seconds", options->seconds, NumberBounds::real(0, 3600),
             "how long each thing is measured in a round")
      ->type_name("S");
  add_rounds_and_output(command, *options);
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* bench = add_command(
      app, "bench", "Measure speeds, each beside a yardstick of the same run, as JSON.", {});
  bench->require_subcommand(1);
  auto options = std::make_shared<BenchOptions>();
  CLI::App* trace = add_command(*bench, "trace",
                                "Text and token batches on 1 and 2 threads, beside a Python "
                                "generator of the same text, memory copies, and the rate "
                                "of verification.",
                                {"shellgame bench trace --output bench/results/trace.json"},
                                [options] { bench_trace(*options); });
  add_common(trace, options);
  add_python(trace, *options);
  options->task.emplace(trace);
  CLI::App* tokens =
      add_command(*bench, "tokens", "Bytes of text that a tokenizer encodes a second, on one core.",
                  {"shellgame bench tokens",
                   "shellgame bench tokens --tokenizer tokenizer.json --input texts.txt"},
                  [options] { bench_tokens(*options); });
  add_common(tokens, options);
  tokens
      ->add_option("--tokenizer", options->tokenizer,
                   "lexeme, bytes, or a Hugging Face tokenizer.json")
      ->type_name("NAME")
      ->capture_default_str();
  tokens->add_option("--input", options->input, "a text file; traces by default")
      ->type_name("FILE");
  add_bench_belief(*bench);
  add_bench_model(*bench);
}

}  // namespace shellgame
