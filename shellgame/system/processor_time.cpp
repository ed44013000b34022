#include "shellgame/system/processor_time.h"

#include <ctime>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

double seconds_of(clockid_t clock) {
  timespec time;
  if (clock_gettime(clock, &time) != 0) fail("the system does not report CPU time");
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

double thread_processor_seconds() { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

double process_processor_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace shellgame
