// xLSTM's scalar-memory cell over a sequence: exponential input gate, sigmoid forget gate,
// stabiliser m.
//   raw = x_t + R h_{t-1} + b (gates i, f, z, o),   m' = max(i, m + log sigmoid(f)),
//   c' = exp(m + log sigmoid(f) - m') c + exp(i - m') tanh(z),   n' likewise with 1 for tanh(z),
//   h' = sigmoid(o) c' / n'.
// At the first step from zero states m' = i. Sizes: H heads of E.
#pragma once

#include <cstdint>

#include "shellgame/kernels/cell_runner.h"

namespace shellgame {

using SlstmShape = CellShape;

// x [B, T, 4, H, E]; recurrent [H, 4 E, E] (rows: gate, out); bias [4, H, E].
// state [4, B, H, E]: h, c, n, m, at the start; null: zeros. final_state likewise, may be null.
// y [B, T, H, E]. saved [slstm_saved_size(shape)] is kept for the backward pass, or null.
std::int64_t slstm_saved_size(const SlstmShape& shape);
void slstm(const SlstmShape& shape, const float* x, const float* recurrent, const float* bias,
           const float* state, float* y, float* final_state, float* saved);

// dy [B, T, H, E]; d_final_state [4, B, H, E] or null. Written: dx [B, T, 4, H, E], d_recurrent,
// d_bias, d_state (may be null).
void slstm_backward(const SlstmShape& shape, const float* recurrent, const float* state,
                    const float* y, const float* saved, const float* dy, const float* d_final_state,
                    float* dx, float* d_recurrent, float* d_bias, float* d_state);

}  // namespace shellgame
