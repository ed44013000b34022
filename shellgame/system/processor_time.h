// Seconds of processor time: on a shared machine the time on the wall says more about the
// neighbours.
#pragma once

namespace shellgame {

double thread_processor_seconds();   // of the calling thread
double process_processor_seconds();  // of all threads of this process, since it began

}  // namespace shellgame
