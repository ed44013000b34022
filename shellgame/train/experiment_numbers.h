// The numbers of an experiment's file, for whoever lists them.
#pragma once

#include <vector>

#include "shellgame/text/number.h"

namespace shellgame {

// Names are paths as --set takes them: "stages.0.batch". Keys of [task] and [model] are not among
// them: task_keys() and config_numbers() have those.
std::vector<DeclaredNumber> experiment_numbers();

}  // namespace shellgame
