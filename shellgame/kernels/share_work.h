// parallel_for for kernels, which are also called for a single token: what is done sooner than the
// other threads wake stays on the calling thread. The items and their results are the same.
#pragma once

#include <cstddef>
#include <functional>

#include "shellgame/system/threads.h"

namespace shellgame {

// Multiplications in all, below which one thread is faster. Measured with two threads on a busy
// machine, two items of multiplications in vectors: an empty parallel_for takes 6 microseconds at
// best and 12 in the middle; 2^17 take 15 alone and 20 shared, 2^18 30 and 36, 2^20 121 and 88.
inline constexpr double kLeastSharedWork = 1 << 18;

// Calls work(i) for every i in [0, count); `multiplications` is an estimate for all of them.
template <class Work>
void share_work(std::size_t count, double multiplications, const Work& work) {
  if (multiplications < kLeastSharedWork) {
    for (std::size_t i = 0; i < count; ++i) work(i);
  } else {
    parallel_for(count, work);
  }
}

}  // namespace shellgame
