// RMSNorm and the linear maps that read it, in one pass over tiles of rows:
//   n = x / sqrt(mean(x^2) + eps) * norm_weight,   y = n [W1; W2; ...]^T.
// The normalised rows are never stored: the norm's weight is multiplied into the packed weights.
#pragma once

#include <cstdint>
#include <span>

#include "shellgame/kernels/gemm.h"

namespace shellgame {

// x [rows, width] -> y [rows, sum of out]; rstd [rows] = 1 / sqrt(mean(x^2) + eps) is kept for the
// backward pass. Column blocks of y follow the order of the weights.
void norm_linear(std::int64_t rows, std::int64_t width, ConstRows x, const float* norm_weight,
                 float eps, std::span<const Weight> weights, Rows y, float* rstd);

// dx [rows, width] = d_residual + (gradient through the norm); d_residual may be empty ({}).
// d_norm_weight [width] and d_weights[i] [out_i, width] are written, not added to; null ones are
// not computed, and neither is dx if it is empty.
void norm_linear_backward(std::int64_t rows, std::int64_t width, ConstRows x,
                          const float* norm_weight, const float* rstd,
                          std::span<const Weight> weights, ConstRows dy, ConstRows d_residual,
                          Rows dx, float* d_norm_weight, std::span<float* const> d_weights);

}  // namespace shellgame
