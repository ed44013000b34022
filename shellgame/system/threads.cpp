#include "shellgame/system/threads.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "shellgame/system/error.h"

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

int chosen_count = 0;
std::unique_ptr<Pool> pool;

}  // namespace

int default_thread_count() {
  if (const char* text = std::getenv("OMP_NUM_THREADS")) {
    const int count = std::atoi(text);
    if (count > 0) return std::min(count, kMostThreads);
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void set_thread_count(int count) {
  if (count < 1 || count > kMostThreads) {
    wrong_use("the number of threads must be from 1 to {}, not {}", kMostThreads, count);
  }
  if (count == chosen_count) return;
  pool.reset();
  chosen_count = count;
}

int thread_count() { return chosen_count > 0 ? chosen_count : default_thread_count(); }

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& work) {
  if (count == 0) return;
  if (chosen_count == 0) chosen_count = default_thread_count();
  if (chosen_count == 1 || count == 1 || Inside::here) {
    for (std::size_t i = 0; i < count; ++i) work(i);
    return;
  }
  if (!pool) pool = std::make_unique<Pool>(chosen_count);
  pool->run(count, work);
}

}  // namespace shellgame
