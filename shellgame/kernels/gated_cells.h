// LSTM, GRU and the plain tanh RNN over a sequence, with gates as torch.nn has them.
//   LSTM: i, f, g, o = x_t + R h_{t-1};  c' = s(f) c + s(i) tanh(g),  h' = s(o) tanh(c').
//   GRU: r = s(x_r + R_r h + b_r),  z = s(x_z + R_z h + b_z),  n = tanh(x_n + r (R_n h + b_n)),
//        h' = n + z (h - n).
//   tanh RNN: h' = tanh(x_t + R h).
#pragma once

#include <cstdint>

#include "shellgame/kernels/cell_runner.h"

namespace shellgame {

// Shapes as in cell_runner.h, with G = 4 and states h, c for the LSTM (its biases are part of x),
// G = 3 and the state h for the GRU, G = 1 and h for the tanh RNN (its bias is part of x).
std::int64_t lstm_saved_size(const CellShape& shape);
void lstm(const CellShape& shape, const float* x, const float* recurrent, const float* state,
          float* y, float* final_state, float* saved);
void lstm_backward(const CellShape& shape, const float* recurrent, const float* state,
                   const float* y, const float* saved, const float* dy, const float* d_final_state,
                   float* dx, float* d_recurrent, float* d_state);

std::int64_t gru_saved_size(const CellShape& shape);
void gru(const CellShape& shape, const float* x, const float* recurrent, const float* bias,
         const float* state, float* y, float* final_state, float* saved);
void gru_backward(const CellShape& shape, const float* recurrent, const float* state,
                  const float* y, const float* saved, const float* dy, const float* d_final_state,
                  float* dx, float* d_recurrent, float* d_bias, float* d_state);

std::int64_t tanh_rnn_saved_size(const CellShape& shape);
void tanh_rnn(const CellShape& shape, const float* x, const float* recurrent, const float* state,
              float* y, float* final_state, float* saved);
void tanh_rnn_backward(const CellShape& shape, const float* recurrent, const float* state,
                       const float* y, const float* saved, const float* dy,
                       const float* d_final_state, float* dx, float* d_recurrent, float* d_state);

}  // namespace shellgame
