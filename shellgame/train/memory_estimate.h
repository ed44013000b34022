// How much memory a run will need, before it starts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "shellgame/models/model.h"
#include "shellgame/system/memory.h"
#include "shellgame/system/saturating.h"
#include "shellgame/tokens/tokenizer.h"
#include "shellgame/train/experiment.h"

namespace shellgame {

// What the forward pass of B rows of T tokens leaves for its backward pass, in bytes: a share for
// every token; one for every step of time, whatever the rows (recurrences that are composed token
// by token); and, for attention in composed operations, one for every pair of tokens of a row.
struct RowMemory {
  double of_token = 0, of_step = 0, of_pair = 0;
  double window = std::numeric_limits<double>::infinity();  // pairs are no farther apart
  double at(std::int64_t B, std::int64_t T) const {
    const auto b = static_cast<double>(B), t = static_cast<double>(T);
    return (of_step + b * of_token) * t + b * of_pair * t * std::min(t, window);
  }
};

// Measured on short rows, so that it holds for every mixer, with the engine in use. Rows are no
// longer than `longest`, and every token is a target of the loss.
RowMemory measure_row_memory(const Model& model, std::int64_t longest,
                             const LossFunction& function = cross_entropy);

struct MemoryEstimate {
  std::int64_t parameters = 0;   // with gradients and the optimiser's moments
  std::int64_t activations = 0;  // kept for the backward pass of the largest batch
  std::int64_t rows = 0;  // tokens of all rows of a step, and what streams hold between steps
  std::int64_t total() const {
    return saturating_add(saturating_add(parameters, activations), rows);
  }
};

// Of the largest of all stages. With the program itself it was .84 to 1.08 times the measured peak
// of a process for seven mixers at width 64 and 8 rows of 2,700 tokens, and of two composed ones.
MemoryEstimate estimate_memory(const Model& model, const Experiment& experiment,
                               const Tokenizer* tokenizer);

}  // namespace shellgame
