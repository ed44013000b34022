// What a thread can know about the parallel_for (threads.h) that it works for.
#pragma once

namespace shellgame {

// Whether this thread is at work for a parallel_for of several threads: others work beside it.
bool is_inside_parallel_for();

}  // namespace shellgame
