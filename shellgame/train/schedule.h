// The learning rate at a step: a pure function of where a run is.
#pragma once

#include <cstdint>

#include "shellgame/train/experiment.h"

namespace shellgame {

struct RunPlace {
  std::size_t stage = 0;
  std::int64_t stage_step = 0;  // steps done in this stage
  std::int64_t step = 0;        // steps done in the run
};

// Rises in a line over the warm-up, then is constant or falls by a cosine to `minimum` of itself at
// the last step of the run, or of the stage. Where a stage was left early, the run's cosine goes on
// from the place that it would have at the stage's full length.
double learning_rate_at(const Experiment& experiment, const RunPlace& place);

}  // namespace shellgame
