// The short causal convolution of each channel over time.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace shellgame {

// y_t = f(sum_i w[c, i] x_{t-W+1+i} + bias): x [B, T, C], weight [C, 1, W] (the last tap is the
// current token), bias [C] or undefined. `before`, where defined, holds the W inputs before the
// first token, oldest first, [B, C, W] (the oldest is never used: flash-linear-attention's form);
// zeros otherwise.
at::Tensor short_conv(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                      const std::string& activation, const at::Tensor& before = {});

// The last W inputs of `before` followed by x: `before` of the next segment.
at::Tensor last_inputs(const at::Tensor& x, const at::Tensor& before, std::int64_t width);

}  // namespace shellgame
