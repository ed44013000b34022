// The one pool of threads. Work is cut into items that do not know which thread runs them, so that
// results never depend on the number of threads.
#pragma once

#include <cstddef>
#include <functional>

namespace shellgame {

inline constexpr int kMostThreads = 1024;

// --threads, else OMP_NUM_THREADS, else all cores.
int default_thread_count();
void set_thread_count(int count);
int thread_count();

// Calls work(i) for every i in [0, count), on all threads, in no fixed order. Returns when all are
// done. The first exception (of the smallest i that threw) is thrown again here. Called from within
// work, it does all on that thread.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace shellgame
