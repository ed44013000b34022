// Causal softmax attention and rotary positions.
#pragma once

#include <ATen/core/Tensor.h>

namespace shellgame {

// Rotates x [B, T, H, K] by position (half-split pairs, angle position * theta^(-2i/K)); the first
// token has position `offset`.
at::Tensor rotate(const at::Tensor& x, double theta, std::int64_t offset);

// q [B, T, H, K]; k, v [B, S, G, ...] with S >= T (the earlier ones are the past) and G dividing H.
// A token sees itself and what is before it, at most `window` tokens in all (0: no limit).
// By the kernel no scores are stored; the composed form works on blocks of queries, and keeps their
// weights for its backward pass.
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale,
                     std::int64_t window);

}  // namespace shellgame
