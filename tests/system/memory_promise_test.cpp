#include "shellgame/system/memory_promise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "shellgame/system/memory.h"
#include "shellgame/system/threads.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using ::testing::HasSubstr;

// More than half of what there is: two do not fit.
std::uint64_t most_of_memory() { return static_cast<std::uint64_t>(available_memory()) / 10 * 7; }

TEST(MemoryPromise, WhatDoesNotFitIsRefusedWithBothNumbers) {
  if (available_memory() == 0) GTEST_SKIP() << "the system does not say how much there is";
  try {
    const MemoryPromise promise(std::uint64_t{1} << 60, "a belief");
    FAIL() << "an exbibyte was promised";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("a belief must fit in memory: about 1024 PiB needed"));
    EXPECT_THAT(error.what(), HasSubstr("available"));
  }
  EXPECT_NO_THROW(MemoryPromise(1000, "little"));
}

TEST(MemoryPromise, WhatIsPromisedAndNotTouchedIsNotPromisedAgain) {
  if (available_memory() == 0) GTEST_SKIP() << "the system does not say how much there is";
  MemoryPromise first(most_of_memory(), "the first");
  EXPECT_THROW(MemoryPromise(most_of_memory(), "the second"), Error);
  first = MemoryPromise();
  EXPECT_NO_THROW(MemoryPromise(most_of_memory(), "the second"));
}

TEST(MemoryPromise, ThreadsThatDoNotFitSideBySideTakeTurns) {
  if (available_memory() == 0) GTEST_SKIP() << "the system does not say how much there is";
  const int before = thread_count();
  set_thread_count(3);
  const std::uint64_t bytes = most_of_memory();
  std::atomic<int> now = 0, most = 0, done = 0;
  parallel_for(6, [&](std::size_t) {
    const MemoryPromise promise(bytes, "a turn");
    if (++now > most) most = now.load();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    --now;
    ++done;
  });
  set_thread_count(before);
  EXPECT_EQ(most, 1);
  EXPECT_EQ(done, 6);
}

// Nobody waits for the thread that waits for its workers.
TEST(MemoryPromise, WhatTheCallerOfThreadsHoldsIsNotWaitedFor) {
  if (available_memory() == 0) GTEST_SKIP() << "the system does not say how much there is";
  const int before = thread_count();
  set_thread_count(2);
  const std::uint64_t bytes = most_of_memory();
  const MemoryPromise outside(bytes, "the caller's");
  EXPECT_THROW(parallel_for(2, [&](std::size_t) { MemoryPromise(bytes, "a worker's"); }), Error);
  set_thread_count(before);
}

}  // namespace
}  // namespace shellgame
