// Non-linear recurrent cells over a sequence.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace shellgame {

struct CellRun {
  at::Tensor output;               // [B, T, D]
  std::vector<at::Tensor> states;  // after the last token
};

// Called after each token with (t, state); what it returns goes on. Empty: none.
using CellTap = std::function<at::Tensor(std::int64_t, const at::Tensor&)>;

// gates [B, T, 4 D], the inputs' part with biases, in the order i, f, g, o (as torch.nn.LSTM);
// recurrent [4 D, D]; states {h, c} [B, D], or empty. The tap sees c.
CellRun lstm(const at::Tensor& gates, const at::Tensor& recurrent, std::vector<at::Tensor> states,
             const CellTap& tap = {});

// gates [B, T, 3 D] in the order r, z, n (as torch.nn.GRU), without the recurrent bias;
// recurrent [3 D, D]; recurrent_bias [3 D]; states {h}. The tap sees h.
CellRun gru(const at::Tensor& gates, const at::Tensor& recurrent, const at::Tensor& recurrent_bias,
            std::vector<at::Tensor> states, const CellTap& tap = {});

// inputs [B, T, D] with the bias; recurrent [D, D]; states {h}. The tap sees h.
CellRun tanh_rnn(const at::Tensor& inputs, const at::Tensor& recurrent,
                 std::vector<at::Tensor> states, const CellTap& tap = {});

// xLSTM's scalar-memory cell. gates [B, T, 4, H, X] in the order i, f, z, o; bias [4, H, X];
// recurrent [H, 4 X (gate, out), X (in)]; states {h, c, n, m} [B, H, X], or empty. Exponential
// input and forget gates (log-sigmoid forget), with the stabiliser m. The tap sees c.
CellRun slstm(const at::Tensor& gates, const at::Tensor& recurrent, const at::Tensor& bias,
              std::vector<at::Tensor> states, const CellTap& tap = {});

}  // namespace shellgame
