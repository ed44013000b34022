#include "shellgame/replay/replay.h"

#include <algorithm>
#include <atomic>
#include <chrono>
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
#include "shellgame/system/error.h"
#include "shellgame/system/threads.h"

namespace shellgame {
namespace {

using Clock = std::chrono::steady_clock;

// A batch is some milliseconds of work: long against the 0.1 ms of an exchange, short against the
// whole, so that the interpreters end together.
constexpr std::size_t kBatchBytes = 1 << 17;
constexpr std::size_t kBatchTraces = 256;
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
  if (!(options.seconds_per_batch > 0)) {
    wrong_use("the time limit of a replay must be above 0 s, not {}", options.seconds_per_batch);
  }
  return options;
}

}  // namespace

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

  void add(std::uint64_t index, std::string_view text, std::optional<std::uint64_t> python_seed) {
    if (closed_) wrong_use("trace {} was added to a replay that is finished", index);
    const std::uint64_t seed = python_seed.value_or(0);
    if (seed > std::numeric_limits<std::uint32_t>::max()) {
      wrong_use("the Python seed of trace {} must be below 2**32, not {}", index, seed);
    }
    if (sequence_ == 0) start_ = Clock::now();
    if (!filling_.indices.empty() && filling_.texts.size() + text.size() > kBatchBytes) push();
    const bool doctest = options_.doctest_every > 0 && sequence_ % options_.doctest_every == 0 &&
                         text.size() <= kDoctestBytes;
    filling_.add(index, static_cast<std::uint32_t>(seed), doctest, text);
    ++sequence_;
    if (filling_.texts.size() >= kBatchBytes || filling_.indices.size() >= kBatchTraces) push();
  }

  ReplayReport finish() {
    if (closed_) wrong_use("a replay can be finished only once");
    if (!filling_.indices.empty()) push();
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
    counts_.traces += part.traces;
    counts_.examples += part.examples;
    counts_.outputs += part.outputs;
    counts_.mismatches += part.mismatches;
    counts_.doctest_traces += part.doctest_traces;
    counts_.doctest_failures += part.doctest_failures;
    counts_.disagreements += part.disagreements;
    if (part.first_disagreement && sequence < disagreed_) {
      counts_.first_disagreement = part.first_disagreement;
      disagreed_ = sequence;
    }
    if (part.first.empty()) return;
    kept_.emplace(sequence, std::move(part.first));
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
      Interpreter interpreter(options_, stop_);
      ReplayBatch batch;
      while (take(batch)) {
        ReplayReport part = interpreter.run(batch);
        const std::lock_guard lock(mutex_);
        counts_.python_version = interpreter.version();
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
                 std::optional<std::uint64_t> python_seed) {
  work_->add(index, text, python_seed);
}

ReplayReport Replay::finish() { return work_->finish(); }

}  // namespace shellgame
