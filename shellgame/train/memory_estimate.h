// How much memory a run will need, before it starts.
#pragma once

#include <cstdint>

#include "shellgame/models/model.h"

namespace shellgame {

struct MemoryEstimate {
  std::int64_t parameters = 0;   // with gradients and the optimiser's moments
  std::int64_t activations = 0;  // kept for the backward pass of the largest batch
  std::int64_t total() const { return parameters + activations; }
};

// For batches of B rows of T tokens. Within a third of what was measured for DeltaNet at the four
// sizes of `bench model`; other mixers keep about as much.
MemoryEstimate estimate_memory(const Model& model, std::int64_t B, std::int64_t T);

// What the system can still give, in bytes; 0 where it does not say.
std::int64_t available_memory();

}  // namespace shellgame
