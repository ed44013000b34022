// The end of a language model: final RMSNorm, head W [vocabulary, width] and cross entropy on the
// positions that have a target. Gradients are computed in the same sweep, for an upstream gradient
// of 1; the caller scales them. Logits live in tiles only; rows without a target cost nothing.
#pragma once

#include <cstdint>

#include "shellgame/kernels/gemm.h"

namespace shellgame {

enum class LossSum { kMean, kSum };  // kMean: over the rows that have a target

struct HeadLoss {
  double loss = 0;           // 0 where no row has a target
  std::int64_t counted = 0;  // rows with a target
  std::int64_t right = 0;    // of those, rows whose largest logit is the target's (first of equals)
};

struct HeadLossInputs {
  std::int64_t rows = 0, width = 0, vocabulary = 0;
  ConstRows x;                         // [rows, width]
  const float* norm_weight = nullptr;  // [width]; null: no norm
  float eps = 1e-6F;
  const float* head = nullptr;            // [vocabulary, width]
  const std::int64_t* targets = nullptr;  // [rows]; negative: not counted
  LossSum sum = LossSum::kMean;
};

// What is null is not computed; without gradients the sweep costs a third.
struct HeadLossOutputs {
  Rows dx;                           // [rows, width], zero for rows without a target
  float* d_head = nullptr;           // [vocabulary, width], written
  float* d_norm_weight = nullptr;    // [width], written
  float* row_loss = nullptr;         // [rows], 0 without a target
  std::int8_t* row_right = nullptr;  // [rows], 1 if the largest logit is the target's
};

// Throws UsageError for a target beyond the vocabulary.
HeadLoss head_loss(const HeadLossInputs& inputs, const HeadLossOutputs& outputs);

}  // namespace shellgame
