// Runs of an experiment as processes of their own, as many at once as cores allow.
#pragma once

#include <string>
#include <vector>

#include "shellgame/train/sweep_plan.h"

namespace shellgame {

// Runs what is not complete yet as `PROGRAM train` processes (SweepOptions::program), `threads`
// each; `who` begins the lines of progress. Why a run failed is kept in its `ending`. Each run ends
// with a checkpoint if this process is interrupted, which throws Error; the same call goes on
// later.
void run_side_by_side(const std::string& who, const SweepOptions& options,
                      std::vector<SweepRun>& runs, int threads);

}  // namespace shellgame
