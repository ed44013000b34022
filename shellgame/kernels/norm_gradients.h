// The gradients behind a norm whose weight was multiplied into the linear weights W [out, width].
#pragma once

#include <cstdint>
#include <span>

#include "shellgame/kernels/gemm.h"

namespace shellgame {

// From sum [out of all, width] = dy^T (x rstd): d_weights[i] = sum * norm_weight, and d_norm_weight
// = sum over outs of W * sum. Null ones are left out. norm_weight may be null (all 1).
void split_norm_gradient(std::span<const Weight> weights, std::int64_t width,
                         const float* norm_weight, const float* sum, float* d_norm_weight,
                         std::span<float* const> d_weights);

}  // namespace shellgame
