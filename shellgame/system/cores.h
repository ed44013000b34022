// How many cores this process may use: of the machine, of its affinity (taskset, schedulers), of
// its control group (containers).
#pragma once

#include <string_view>

namespace shellgame {

int usable_cores();  // as it was at the first call
int count_cores();   // as it is now

// The cores that a control group's cpu.max grants, rounded up: "150000 100000" is 2; 0 for no
// limit.
int cores_of_quota(std::string_view cpu_max);

// Variables that tell OpenMP and BLAS how many threads to start are cut to usable_cores(). To be
// called before these libraries are loaded.
void bound_thread_variables();

}  // namespace shellgame
