#include "shellgame/ops/cells.h"

#include <ATen/Functions.h>

namespace shellgame {
namespace {

at::Tensor zeros_like_step(const at::Tensor& gates, std::int64_t width) {
  return at::zeros({gates.size(0), width}, gates.options());
}

at::Tensor tapped(const CellTap& tap, std::int64_t t, const at::Tensor& state) {
  return tap ? tap(t, state) : state;
}

}  // namespace

CellRun lstm(const at::Tensor& gates, const at::Tensor& recurrent, std::vector<at::Tensor> states,
             const CellTap& tap) {
  const std::int64_t width = recurrent.size(1);
  if (states.empty()) states = {zeros_like_step(gates, width), zeros_like_step(gates, width)};
  at::Tensor h = states[0], c = states[1];
  std::vector<at::Tensor> outputs;
  for (std::int64_t t = 0; t < gates.size(1); ++t) {
    const std::vector<at::Tensor> parts =
        (gates.select(1, t) + at::linear(h, recurrent)).chunk(4, -1);
    c = parts[1].sigmoid() * c + parts[0].sigmoid() * parts[2].tanh();
    c = tapped(tap, t, c);
    h = parts[3].sigmoid() * c.tanh();
    outputs.push_back(h);
  }
  return {at::stack(outputs, 1), {h, c}};
}

CellRun gru(const at::Tensor& gates, const at::Tensor& recurrent, const at::Tensor& recurrent_bias,
            std::vector<at::Tensor> states, const CellTap& tap) {
  const std::int64_t width = recurrent.size(1);
  at::Tensor h = states.empty() ? zeros_like_step(gates, width) : states[0];
  std::vector<at::Tensor> outputs;
  for (std::int64_t t = 0; t < gates.size(1); ++t) {
    const std::vector<at::Tensor> in = gates.select(1, t).chunk(3, -1);
    const std::vector<at::Tensor> back = at::linear(h, recurrent, recurrent_bias).chunk(3, -1);
    const at::Tensor reset = (in[0] + back[0]).sigmoid(), update = (in[1] + back[1]).sigmoid();
    const at::Tensor fresh = (in[2] + reset * back[2]).tanh();
    h = tapped(tap, t, fresh + update * (h - fresh));
    outputs.push_back(h);
  }
  return {at::stack(outputs, 1), {h}};
}

CellRun slstm(const at::Tensor& gates, const at::Tensor& recurrent, std::vector<at::Tensor> states,
              const CellTap& tap) {
  const std::int64_t batch = gates.size(0), heads = gates.size(3), width = gates.size(4);
  if (states.empty()) {
    const at::Tensor zero = at::zeros({batch, heads, width}, gates.options());
    states = {zero, zero, zero, zero};
  }
  at::Tensor h = states[0], c = states[1], n = states[2], m = states[3];
  std::vector<at::Tensor> outputs;
  for (std::int64_t t = 0; t < gates.size(1); ++t) {
    // [B, H, 4, X]
    const at::Tensor back =
        at::matmul(recurrent, h.unsqueeze(-1)).reshape({batch, heads, 4, width}).transpose(1, 2);
    const at::Tensor all = gates.select(1, t) + back;
    const at::Tensor in = all.select(1, 0), forget = at::log_sigmoid(all.select(1, 1)) + m;
    // The first token finds n = 0: the stabiliser starts at its input gate.
    const at::Tensor fresh = at::where((n == 0).all(), in, at::maximum(in, forget));
    const at::Tensor keep = (forget - fresh).clamp_max(0).exp(), write = (in - fresh).exp();
    c = tapped(tap, t, keep * c + write * all.select(1, 2).tanh());
    n = keep * n + write;
    h = all.select(1, 3).sigmoid() * c / n;
    m = fresh;
    outputs.push_back(h);
  }
  return {at::stack(outputs, 1).flatten(2), {h, c, n, m}};
}

}  // namespace shellgame
