// How much memory a trace takes that is made in one piece.
#pragma once

#include <cstdint>

#include "shellgame/tasks/sampler.h"

namespace shellgame {

// With text, states and what is written of them. Measured on traces of 300,000 commands: 134 bytes
// for swaps of S_3, 208 for S_5, 536 for S_10, 1,900 to 3,600 for S_60; frequent reveals take more.
inline std::uint64_t trace_bytes_per_command(const Sampler& sampler) {
  return 40 + 32 * static_cast<std::uint64_t>(sampler.names()->size());
}

}  // namespace shellgame
