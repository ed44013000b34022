// The runs of a sweep as processes, as many at once as cores allow.
#pragma once

#include "shellgame/train/sweep_results.h"

namespace shellgame {

// Runs what is not complete yet as `PROGRAM train` processes (the program is this one), `threads`
// each, and gathers all results; also written to DIR/sweep.json. Each run ends with a checkpoint if
// this process is interrupted, and the same call goes on later.
SweepResults run_sweep(const SweepOptions& options, int threads);

}  // namespace shellgame
