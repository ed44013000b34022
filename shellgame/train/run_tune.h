// A search for settings, the same for every arm of an experiment: as many trials with the same
// draws and the same budget, selected at the trained length.
#pragma once

#include "shellgame/train/tune_results.h"

namespace shellgame {

// Trains what is not complete yet (train/side_by_side.h) and gathers all trials; also written to
// DIR/tune.json. Selection sees an evaluation at the trained length with traces that nothing else
// reads; a file whose space draws keys of [evaluation] or [task] is refused.
TuneResults run_tune(const TuneOptions& options, int threads);

// The runs of all trials, arm by arm. Throws UsageError or InputError.
std::vector<SweepRun> plan_trials(const TuneOptions& options);

}  // namespace shellgame
