// The runs of a sweep as processes, as many at once as cores allow.
#pragma once

#include "shellgame/train/sweep_results.h"

namespace shellgame {

// Runs what is not complete yet (train/side_by_side.h) and gathers all results; also written to
// DIR/sweep.json.
SweepResults run_sweep(const SweepOptions& options, int threads);

}  // namespace shellgame
