// A run's directory before the first step: it is new, or it has the same experiment and is to be
// gone on with.
#pragma once

#include <string>

#include "shellgame/train/experiment.h"

namespace shellgame {

// Makes `run` with experiment.toml and environment.json. Throws UsageError if there is a run
// already and `resume` is not said, or if that run was started with another experiment.
void prepare_run_directory(const std::string& run, const Experiment& experiment, bool resume);

}  // namespace shellgame
