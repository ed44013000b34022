#include "shellgame/system/threads.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "shellgame/system/cores.h"
#include "shellgame/system/parallel_region.h"
#include "shellgame/text/error.h"
#include "shellgame/text/number.h"

namespace shellgame {
namespace {

// Whether this thread is at work for a parallel_for: another one from there runs on it alone.
struct Inside {
  Inside() { here = true; }
  ~Inside() { here = false; }
  static thread_local bool here;
};
thread_local bool Inside::here = false;

class Pool {
 public:
  explicit Pool(int count) {
    try {
      for (int i = 1; i < count; ++i) threads_.emplace_back([this] { loop(); });
    } catch (const std::system_error& error) {
      const std::size_t started = threads_.size() + 1;
      end();  // the threads that did start wait for work
      fail("the machine must give {} threads, but only {} could be started: {}", count, started,
           error.what());
    }
  }

  ~Pool() { end(); }

  void end() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  void run(std::size_t count, const std::function<void(std::size_t)>& work) {
    {
      const std::lock_guard lock(mutex_);
      work_ = &work;
      count_ = count;
      next_ = 0;
      busy_ = threads_.size();
      failed_ = std::numeric_limits<std::size_t>::max();
      failure_ = nullptr;
      ++round_;
    }
    wake_.notify_all();
    take_items();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void loop() {
    std::size_t seen = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return stop_ || round_ != seen; });
        if (stop_) return;
        seen = round_;
      }
      take_items();
      const std::lock_guard lock(mutex_);
      if (--busy_ == 0) done_.notify_one();
    }
  }

  void take_items() {
    const Inside inside;
    for (std::size_t i = next_++; i < count_; i = next_++) {
      try {
        (*work_)(i);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (i < failed_) {
          failed_ = i;
          failure_ = std::current_exception();
        }
      }
    }
  }

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::size_t count_ = 0, busy_ = 0, round_ = 0;
  std::atomic<std::size_t> next_{0};
  std::size_t failed_ = 0;
  std::exception_ptr failure_;
  bool stop_ = false;
};

std::atomic<int> chosen_count = 0;
// Held by the outside caller whose work the pool does, and while the pool is made or ended.
std::mutex pool_mutex;
std::unique_ptr<Pool> pool;

}  // namespace

int default_thread_count() {
  int count = usable_cores();
  if (const char* given = std::getenv("OMP_NUM_THREADS")) {
    // OpenMP takes a list: the first number is that of the outermost loops.
    std::string_view text(given);
    text = text.substr(0, text.find(','));
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    if (!text.empty()) {
      const auto bounds = NumberBounds::whole(1, std::numeric_limits<int>::max());
      count = std::min(count, bounds.parse<int>("OMP_NUM_THREADS", text));
    }
  }
  return std::min(count, kMostThreads);
}

void set_thread_count(int count) {
  if (count < 1 || count > kMostThreads) {
    wrong_use("the number of threads must be from 1 to {}, not {}", kMostThreads, count);
  }
  if (Inside::here) fail("the number of threads must not change from within their work");
  const std::lock_guard lock(pool_mutex);  // what another thread's parallel_for does is done first
  if (count == chosen_count) return;
  pool.reset();
  chosen_count = count;
}

int thread_count() {
  const int count = chosen_count;
  return count > 0 ? count : default_thread_count();
}

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& work) {
  if (count > 1 && thread_count() > 1 && !Inside::here) {
    const std::unique_lock lock(pool_mutex, std::try_to_lock);
    if (lock) {
      if (chosen_count == 0) chosen_count = default_thread_count();
      if (!pool) pool = std::make_unique<Pool>(chosen_count);
      pool->run(count, work);
      return;
    }
  }
  for (std::size_t i = 0; i < count; ++i) work(i);
}

bool is_inside_parallel_for() { return Inside::here; }

}  // namespace shellgame
