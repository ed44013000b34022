#include "shellgame/system/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// Puts the number of threads back as it was.
class ParallelFor : public testing::Test {
 protected:
  void TearDown() override { set_thread_count(before_); }
  const int before_ = thread_count();
};

TEST_F(ParallelFor, GivesEveryIndexOnce) {
  for (int threads = 1; threads <= 8; ++threads) {
    set_thread_count(threads);
    EXPECT_EQ(thread_count(), threads);
    for (const std::size_t count : {0u, 1u, 2u, 3u, 7u, 8u, 9u, 1000u, 20000u}) {
      std::vector<std::atomic<int>> calls(count + 1);
      parallel_for(count, [&](std::size_t i) {
        ++calls[i];
        // Long enough for the other threads to wake and to take from the same few items.
        if (count < 10) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      });
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(calls[i], 1) << "index " << i << " of " << count << ", " << threads << " threads";
      }
      ASSERT_EQ(calls[count], 0);
    }
  }
}

TEST_F(ParallelFor, ThrowsTheExceptionOfTheSmallestIndex) {
  for (int threads = 1; threads <= 8; ++threads) {
    set_thread_count(threads);
    for (int round = 0; round < 50; ++round) {
      std::string caught = "nothing";
      try {
        parallel_for(200, [](std::size_t i) {
          if (i % 50 == 13) fail("{}", i);
        });
      } catch (const Error& error) {
        caught = error.what();
      }
      ASSERT_EQ(caught, "13") << threads << " threads";
      // The pool is as good as new.
      std::atomic<int> calls = 0;
      parallel_for(20, [&](std::size_t) { ++calls; });
      ASSERT_EQ(calls, 20);
    }
  }
}

TEST_F(ParallelFor, UsesAllThreadsAtOnce) {
  for (int threads = 1; threads <= 8; ++threads) {
    set_thread_count(threads);
    std::mutex mutex;
    std::condition_variable changed;
    int here = 0;
    std::atomic<int> met = 0;
    // Each item waits until as many items as threads run together.
    parallel_for(static_cast<std::size_t>(threads), [&](std::size_t) {
      std::unique_lock lock(mutex);
      ++here;
      changed.notify_all();
      if (changed.wait_for(lock, std::chrono::seconds(20), [&] { return here == threads; })) ++met;
    });
    EXPECT_EQ(met, threads);
  }
}

TEST_F(ParallelFor, MayBeCalledFromWithin) {
  set_thread_count(4);
  std::vector<std::atomic<int>> calls(64 * 32);
  parallel_for(64, [&](std::size_t i) {
    const auto outer = std::this_thread::get_id();
    parallel_for(32, [&](std::size_t j) {
      EXPECT_EQ(std::this_thread::get_id(), outer);
      ++calls[i * 32 + j];
    });
  });
  for (const std::atomic<int>& count : calls) EXPECT_EQ(count, 1);
}

// Two threads that do not know of each other, as a program that uses the library has them.
TEST_F(ParallelFor, MayBeCalledByTwoThreadsAtOnce) {
  set_thread_count(4);
  constexpr std::size_t kItems = 64;
  constexpr int kRounds = 300;
  std::atomic<int> wrong = 0, thrown = 0;
  const auto caller = [&] {
    for (int round = 0; round < kRounds; ++round) {
      std::vector<std::atomic<int>> calls(kItems);
      try {
        parallel_for(kItems, [&](std::size_t i) {
          ++calls[i];
          if (round % 10 == 0 && i == 7) fail("7");
        });
        if (round % 10 == 0) ++wrong;
        for (const std::atomic<int>& count : calls) wrong += count == 1 ? 0 : 1;
      } catch (const Error&) {
        ++thrown;
      }
    }
  };
  std::thread first(caller), second(caller);
  caller();
  first.join();
  second.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(thrown, 3 * kRounds / 10);
}

TEST_F(ParallelFor, OfASecondThreadDoesNotWaitForTheFirst) {
  set_thread_count(2);
  std::atomic<bool> second_done = false;
  parallel_for(2, [&](std::size_t i) {
    if (i != 0) return;
    // The work of the first caller waits for the second one's: neither may wait for the pool.
    std::thread([&] {
      std::atomic<int> calls = 0;
      parallel_for(10, [&](std::size_t) { ++calls; });
      second_done = calls == 10;
    }).join();
  });
  EXPECT_TRUE(second_done);
}

TEST_F(ParallelFor, MayGetOtherThreadsWhileAnotherCallerIsAtWork) {
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0;
  std::thread worker([&] {
    while (!stop) {
      std::atomic<int> calls = 0;
      parallel_for(32, [&](std::size_t) { ++calls; });
      wrong += calls == 32 ? 0 : 1;
    }
  });
  for (int round = 0; round < 200; ++round) set_thread_count(1 + round % 4);
  stop = true;
  worker.join();
  EXPECT_EQ(wrong, 0);
  set_thread_count(4);
  EXPECT_THROW(parallel_for(8, [](std::size_t) { set_thread_count(2); }), Error);
}

TEST_F(ParallelFor, RefusesLessThanOneThread) {
  EXPECT_THROW(set_thread_count(0), UsageError);
  EXPECT_THROW(set_thread_count(-1), UsageError);
  EXPECT_GE(default_thread_count(), 1);
}

}  // namespace
}  // namespace shellgame
