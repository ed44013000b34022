// Which seeds are for what: traces that a model is judged on are never those it was trained on.
#pragma once

#include <cstdint>

#include "shellgame/text/error.h"

namespace shellgame {

// Seeds of people are below this number; the rest belong to evaluation.
inline constexpr std::uint64_t kEvaluationSeeds = std::uint64_t{1} << 63;

// The generator's seed for the evaluation seed `seed`: the same number with the highest bit set.
// Training uses its seeds as they are, so the two never meet. Throws UsageError from 2^63 on.
inline std::uint64_t evaluation_seed(std::uint64_t seed) {
  if (seed >= kEvaluationSeeds) wrong_use("a seed must be below 2^63, not {}", seed);
  return seed | kEvaluationSeeds;
}

}  // namespace shellgame
