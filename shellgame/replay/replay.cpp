#include "shellgame/replay/replay.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "shellgame/replay/interpreter.h"
#include "shellgame/replay/warden.h"
#include "shellgame/system/threads.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using Clock = std::chrono::steady_clock;

// A batch is some milliseconds of work: long against the 0.1 ms of an exchange, short against the
// whole, so that the interpreters end together.
constexpr std::size_t kBatchBytes = 1 << 17;
constexpr std::size_t kBatchTraces = 256;
// Of those that run alone, which take milliseconds each.
constexpr std::size_t kBatchAlone = 4;
// doctest takes some 40 us a line, so that it could not check a longer trace in time.
constexpr std::size_t kDoctestBytes = 1 << 20;
constexpr int kMostProcesses = 256;
constexpr std::size_t kMostMismatches = 10000;

ReplayOptions checked(ReplayOptions options) {
  if (options.processes == 0) options.processes = thread_count();
  if (options.processes < 1 || options.processes > kMostProcesses) {
    wrong_use("a replay takes 1 to {} processes, not {}", kMostProcesses, options.processes);
  }
  if (options.keep_mismatches > kMostMismatches) {
    wrong_use("a replay keeps at most {} mismatches, not {}", kMostMismatches,
              options.keep_mismatches);
  }
  if (!(options.time_limit >= kLeastTimeLimit && options.time_limit <= kMostTimeLimit)) {
    wrong_use("the time limit of a session must be from {} to {} s, not {}", kLeastTimeLimit,
              kMostTimeLimit, options.time_limit);
  }
  if (options.memory_limit < kLeastMemoryLimit || options.memory_limit > kMostMemoryLimit) {
    wrong_use("the memory limit of a session must be from {} to {} MiB, not {}", kLeastMemoryLimit,
              kMostMemoryLimit, options.memory_limit);
  }
  return options;
}

// Traces that are replayed together; they follow one another in the order of add().
struct ReplayBatch {
  std::uint64_t sequence = 0;  // of the first trace, counted from 0
  std::vector<ReplayTrace> traces;
  std::size_t bytes = 0, alone = 0;
};

// What one thread replays with; each part starts when it is needed first.
class ReplayWorker {
 public:
  ReplayWorker(const ReplayOptions& options, const std::atomic<bool>& stop)
      : options_(options), stop_(stop) {}

  ReplayReport run(const ReplayBatch& batch) {
    std::vector<const ReplayTrace*> plain;
    for (const ReplayTrace& trace : batch.traces) {
      if (trace.known.plain) plain.push_back(&trace);
    }
    std::vector<TraceResult> results;
    ReplayReport report;
    if (!plain.empty()) {
      if (!interpreter_) interpreter_ = std::make_unique<Interpreter>(options_.python, stop_);
      results = interpreter_->run(plain);
      report.python_version = interpreter_->version();
    }
    auto next = results.begin();
    for (const ReplayTrace& trace : batch.traces) {
      TraceResult result = trace.known.plain ? std::move(*next++) : run_alone(trace, report);
      append_report(
          report,
          judge(trace.index, trace.cut, result.session, result.doctest, options_.keep_mismatches),
          options_.keep_mismatches);
    }
    return report;
  }

 private:
  TraceResult run_alone(const ReplayTrace& trace, ReplayReport& report) {
    if (!warden_) warden_ = std::make_unique<Warden>(options_, stop_);
    ++report.isolated;
    report.python_version = warden_->version();
    report.protections = warden_->protections();
    return warden_->run(trace);
  }

  const ReplayOptions& options_;
  const std::atomic<bool>& stop_;
  std::unique_ptr<Interpreter> interpreter_;
  std::unique_ptr<Warden> warden_;
};

}  // namespace

double ReplayOptions::seconds_for(std::size_t bytes) const {
  return time_limit * (1 + std::floor(static_cast<double>(bytes) / 1e6));
}

// A queue of batches, and a thread for each interpreter that takes from it. Interpreters start when
// there is a batch that nobody waits for: a single trace starts one.
class Replay::Work {
 public:
  explicit Work(ReplayOptions options) : options_(checked(std::move(options))) {}

  ~Work() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    join();
  }

  void add(std::uint64_t index, std::string_view text, std::optional<std::uint64_t> python_seed,
           const std::vector<double>* hidden_numbers) {
    if (closed_) wrong_use("trace {} was added to a replay that is finished", index);
    const std::uint64_t seed = python_seed.value_or(0);
    if (seed > std::numeric_limits<std::uint32_t>::max()) {
      wrong_use("the Python seed of trace {} must be below 2**32, not {}", index, seed);
    }
    if (sequence_ == 0) start_ = Clock::now();
    const bool doctest = options_.doctest_every > 0 && sequence_ % options_.doctest_every == 0 &&
                         text.size() <= kDoctestBytes;
    ReplayTrace trace{index, static_cast<std::uint32_t>(seed), doctest, CutText(text), {}, {}};
    if (hidden_numbers != nullptr) trace.hidden_numbers = *hidden_numbers;
    trace.known = sources_.know(trace.cut);
    // Numbers of sources mean something within their generation only.
    if (!filling_.traces.empty() &&
        (filling_.bytes + text.size() > kBatchBytes ||
         filling_.traces[0].known.generation != trace.known.generation)) {
      push();
    }
    if (!trace.known.plain) ++filling_.alone;
    filling_.bytes += text.size();
    filling_.traces.push_back(std::move(trace));
    ++sequence_;
    if (filling_.bytes >= kBatchBytes || filling_.traces.size() >= kBatchTraces ||
        filling_.alone >= kBatchAlone) {
      push();
    }
  }

  ReplayReport finish() {
    if (closed_) wrong_use("a replay can be finished only once");
    if (!filling_.traces.empty()) push();
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
    join();
    if (failure_) std::rethrow_exception(failure_);
    ReplayReport whole = std::move(counts_);
    for (auto& [sequence, mismatches] : kept_) {
      std::move(mismatches.begin(), mismatches.end(), std::back_inserter(whole.first));
    }
    if (whole.first.size() > options_.keep_mismatches) whole.first.resize(options_.keep_mismatches);
    if (sequence_ > 0) {
      whole.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    }
    return whole;
  }

 private:
  // Adds a batch's report. Batches end in any order, so the mismatches wait in the order of add();
  // those that can no longer be among the first are dropped.
  void merge(std::uint64_t sequence, ReplayReport part) {
    if (part.first_disagreement && sequence < disagreed_) {
      counts_.first_disagreement = part.first_disagreement;
      disagreed_ = sequence;
    }
    if (!part.python_version.empty()) counts_.python_version = part.python_version;
    if (!part.protections.empty()) counts_.protections = part.protections;
    std::vector<Mismatch> first = std::exchange(part.first, {});
    append_report(counts_, std::move(part), 0);
    if (first.empty()) return;
    kept_.emplace(sequence, std::move(first));
    std::size_t before = 0;
    for (auto it = kept_.begin(); it != kept_.end();) {
      const std::size_t here = it->second.size();
      it = before >= options_.keep_mismatches ? kept_.erase(it) : std::next(it);
      before += here;
    }
  }

  // Puts the batch that was being filled into the queue.
  void push() {
    std::unique_lock lock(mutex_);
    const auto most = 2 * static_cast<std::size_t>(options_.processes);
    changed_.wait(lock, [&] { return failure_ || queue_.size() < most; });
    if (failure_) std::rethrow_exception(failure_);
    queue_.push_back(std::exchange(filling_, {}));
    filling_.sequence = sequence_;
    if (queue_.size() > idle_ && threads_.size() < static_cast<std::size_t>(options_.processes)) {
      threads_.emplace_back([this] { serve(); });
    }
    lock.unlock();
    changed_.notify_all();
  }

  // One interpreter's life.
  void serve() {
    try {
      ReplayWorker worker(options_, stop_);
      ReplayBatch batch;
      while (take(batch)) {
        ReplayReport part = worker.run(batch);
        const std::lock_guard lock(mutex_);
        merge(batch.sequence, std::move(part));
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      stop_ = true;
    }
    changed_.notify_all();
  }

  bool take(ReplayBatch& batch) {
    std::unique_lock lock(mutex_);
    ++idle_;
    changed_.wait(lock, [this] { return stop_ || closed_ || !queue_.empty(); });
    --idle_;
    if (stop_ || queue_.empty()) return false;
    batch = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return true;
  }

  void join() {
    changed_.notify_all();
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

  const ReplayOptions options_;
  Clock::time_point start_;
  std::uint64_t sequence_ = 0;  // of the next trace
  SourceTable sources_;
  ReplayBatch filling_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ReplayBatch> queue_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  ReplayReport counts_;
  std::map<std::uint64_t, std::vector<Mismatch>> kept_;  // by the sequence number of the batch
  std::uint64_t disagreed_ = std::numeric_limits<std::uint64_t>::max();
  std::exception_ptr failure_;
  bool closed_ = false;
  std::atomic<bool> stop_{false};
};

Replay::Replay(ReplayOptions options) : work_(std::make_unique<Work>(std::move(options))) {}
Replay::~Replay() = default;

void Replay::add(std::uint64_t index, std::string_view text,
                 std::optional<std::uint64_t> python_seed,
                 const std::vector<double>* hidden_numbers) {
  work_->add(index, text, python_seed, hidden_numbers);
}

ReplayReport Replay::finish() { return work_->finish(); }

}  // namespace shellgame
