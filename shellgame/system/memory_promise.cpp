#include "shellgame/system/memory_promise.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>

#include "shellgame/system/memory.h"
#include "shellgame/system/parallel_region.h"
#include "shellgame/system/saturating.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// All promises of the process.
struct Promises {
  std::mutex mutex;
  std::condition_variable given_back;
  std::uint64_t held = 0, untouched = 0, passing = 0;
  std::uint64_t most_held = 0;
  std::map<std::thread::id, std::uint64_t> by_thread;

  std::uint64_t free() const {
    const auto left = static_cast<std::uint64_t>(available_memory());
    // What was held at once before can be held again: an allocator may keep what was given back.
    return std::max(left - std::min(left, untouched), most_held - held);
  }
};

Promises& promises() {
  static Promises all;
  return all;
}

}  // namespace

MemoryPromise::MemoryPromise(std::uint64_t bytes, const std::string& what) {
  if (bytes < kSmall) return;
  Promises& all = promises();
  std::unique_lock lock(all.mutex);
  const std::thread::id here = std::this_thread::get_id();
  const bool silent = available_memory() == 0;  // the system does not say
  while (!silent && bytes > all.free()) {
    if (all.passing == 0 || !is_inside_parallel_for() || all.by_thread.contains(here)) {
      fail("{} must fit in memory: about {} needed, {} available", what,
           memory_words(static_cast<double>(bytes)), memory_words(static_cast<double>(all.free())));
    }
    all.given_back.wait(lock);
  }
  bytes_ = untouched_ = bytes;
  owner_ = here;
  passing_ = is_inside_parallel_for();
  if (passing_) all.passing = saturating_add(all.passing, bytes);
  all.held = saturating_add(all.held, bytes);
  all.untouched = saturating_add(all.untouched, bytes);
  all.most_held = std::max(all.most_held, all.held);
  all.by_thread[here] += bytes;
}

void MemoryPromise::take(std::uint64_t bytes) {
  const std::uint64_t now = std::min(bytes, untouched_);
  if (now == 0) return;
  Promises& all = promises();
  const std::lock_guard lock(all.mutex);
  untouched_ -= now;
  all.untouched -= now;
}

void MemoryPromise::give_back() noexcept {
  if (bytes_ == 0) return;
  Promises& all = promises();
  {
    const std::lock_guard lock(all.mutex);
    all.held -= bytes_;
    if (passing_) all.passing -= bytes_;
    all.untouched -= untouched_;
    const auto mine = all.by_thread.find(owner_);
    if ((mine->second -= bytes_) == 0) all.by_thread.erase(mine);
  }
  bytes_ = untouched_ = 0;
  all.given_back.notify_all();
}

}  // namespace shellgame
