#include "shellgame/kernels/share_work.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

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

}  // namespace
}  // namespace shellgame
