// parallel_for for kernels, which are also called for a single token: what is done sooner than the
// other threads wake stays on the calling thread. The items and their results are the same.
#pragma once

#include <cstddef>
#include <functional>

#include "shellgame/system/threads.h"

namespace shellgame {

// Multiplications in all, below which one thread is faster. Measured with two threads (DeltaNet's
// core and the short convolution, T from 1 to 256): waking costs 10 to 20 microseconds, the time of
// a hundred thousand multiplications in vectors.
inline constexpr double kLeastSharedWork = 1 << 17;

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
