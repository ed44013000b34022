// The one pool of threads. Work is cut into items that do not know which thread runs them, so that
// results never depend on the number of threads.
#pragma once

#include <cstddef>
#include <functional>

namespace shellgame {

inline constexpr int kMostThreads = 1024;

// OMP_NUM_THREADS, else all cores; never more than the cores that this process may use, since
// nobody who asks for many threads there means this program alone.
int default_thread_count();
// More threads than cores may be asked for here, up to kMostThreads. Waits for a parallel_for of
// another thread; must not be called from within work.
void set_thread_count(int count);
int thread_count();

// Calls work(i) for every i in [0, count), on all threads, in no fixed order. Returns when all are
// done. The first exception (of the smallest i that threw) is thrown again here. Called from within
// work, it does all on that thread. So does a second thread that calls it while the pool works for
// a first one: it does not wait, because the first one's work may be waiting for it, and its own
// thread is one more that can work.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace shellgame
