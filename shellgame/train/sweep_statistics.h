// Statistics over the runs of a sweep.
#pragma once

#include <string>
#include <vector>

#include "shellgame/train/sweep_plan.h"

namespace shellgame {

struct SweepSpread {
  double mean = 0, deviation = 0;  // the deviation of a sample; of one value 0
};
// Of no values: 0 and 0.
SweepSpread sweep_spread(const std::vector<double>& values);

// Where environments differ from run to run, one sentence a key, in the order of the keys:
// `simd: "AVX2" in 3 runs, "AVX3" in 2`. `weights` says how many runs had each environment; a run
// that was started in several counts for each. Records that lack a key count as null.
std::vector<std::string> environments_that_differ(const std::vector<SweepJson>& environments,
                                                  const std::vector<int>& weights);

}  // namespace shellgame
