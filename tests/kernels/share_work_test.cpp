#include "shellgame/kernels/share_work.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "shellgame/kernels/share_heads.h"

namespace shellgame {
namespace {

TEST(ShareWork, TinyWorkStaysOnTheCallingThread) {
  set_thread_count(3);
  std::set<std::thread::id> threads;
  std::vector<std::size_t> order;
  share_work(50, kLeastSharedWork / 2, [&](std::size_t i) {
    threads.insert(std::this_thread::get_id());
    order.push_back(i);
  });
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
  EXPECT_EQ(order.size(), 50u);
  set_thread_count(default_thread_count());
}

TEST(ShareWork, LargeWorkIsSharedAndEachItemIsDoneOnce) {
  set_thread_count(2);
  std::vector<int> done(50);
  std::atomic<bool> elsewhere = false;
  const std::thread::id caller = std::this_thread::get_id();
  share_work(50, kLeastSharedWork, [&](std::size_t i) {
    ++done[i];
    // The caller waits in its first item until the other thread has taken one.
    if (std::this_thread::get_id() != caller) elsewhere = true;
    while (!elsewhere) std::this_thread::yield();
  });
  EXPECT_EQ(done, std::vector<int>(50, 1));
  set_thread_count(default_thread_count());
}

TEST(ShareHeads, EachHeadOfEachBatchRowIsDoneOnce) {
  for (const DeltaSizes& sizes : {DeltaSizes{32, 8, 2, 32, 32}, DeltaSizes{16, 8, 7, 16, 32},
                                  DeltaSizes{3, 8, 8, 16, 16}, DeltaSizes{1, 8, 1, 128, 128}}) {
    std::vector<std::atomic<int>> done(sizes.B * sizes.H);
    share_heads(sizes, [&](std::size_t b, HeadRange heads) {
      for (std::size_t i = 0; i < heads.count; ++i) ++done.at(b * sizes.H + heads.first + i);
    });
    for (const std::atomic<int>& count : done) EXPECT_EQ(count, 1);
  }
}

TEST(ShareHeads, RowsOfAFewLinesGoTogetherIfItemsAreLeftForManyThreads) {
  set_thread_count(2);
  EXPECT_EQ(heads_together({32, 100, 2, 32, 32}), 2u);
  EXPECT_EQ(heads_together({16, 100, 8, 32, 32}), 4u);
  EXPECT_EQ(heads_together({8, 100, 4, 32, 32}), 2u);
  EXPECT_EQ(heads_together({16, 100, 5, 32, 32}), 3u);  // and 2
  EXPECT_EQ(heads_together({1, 100, 8, 32, 32}), 1u);
  EXPECT_EQ(heads_together({64, 100, 8, 128, 128}), 1u);
  EXPECT_EQ(heads_together({64, 100, 8, 256, 64}), 1u);
  set_thread_count(16);
  EXPECT_EQ(heads_together({16, 100, 8, 32, 32}), 1u);
  set_thread_count(default_thread_count());
}

}  // namespace
}  // namespace shellgame
