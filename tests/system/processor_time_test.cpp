#include "shellgame/system/processor_time.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace shellgame {
namespace {

TEST(ProcessorTime, WorkTakesTimeAndSleepTakesNone) {
  const double before = thread_processor_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LT(thread_processor_seconds() - before, 0.05);
  const double start = thread_processor_seconds();
  while (thread_processor_seconds() - start < 0.01) {
  }
  EXPECT_GE(thread_processor_seconds() - before, 0.01);
}

TEST(ProcessorTime, AProcessCountsAllItsThreads) {
  const double own = thread_processor_seconds(), all = process_processor_seconds();
  std::thread([] {
    const double start = thread_processor_seconds();
    while (thread_processor_seconds() - start < 0.05) {
    }
  }).join();
  EXPECT_GE(process_processor_seconds() - all, 0.05);
  EXPECT_LT(thread_processor_seconds() - own, 0.05);
}

}  // namespace
}  // namespace shellgame
