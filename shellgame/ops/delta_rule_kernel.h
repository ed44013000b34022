// The recurrences through our kernels, with gradients; fp32 on a CPU.
#pragma once

#include "shellgame/ops/delta_rule.h"

namespace shellgame {

Recurrence delta_rule_by_kernel(const DeltaInputs& inputs);
Recurrence low_rank_rule_by_kernel(const LowRankInputs& inputs);

}  // namespace shellgame
