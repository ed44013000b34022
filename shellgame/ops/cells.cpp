#include "shellgame/ops/cells.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include "shellgame/kernels/gated_cells.h"
#include "shellgame/kernels/slstm.h"
#include "shellgame/ops/engine.h"
#include "shellgame/ops/kernel_function.h"
#include "shellgame/ops/rows.h"
#include "shellgame/ops/timing.h"

namespace shellgame {
namespace {

at::Tensor zeros_like_step(const at::Tensor& gates, std::int64_t width) {
  return at::zeros({gates.size(0), width}, gates.options());
}

at::Tensor tapped(const CellTap& tap, std::int64_t t, const at::Tensor& state) {
  return tap ? tap(t, state) : state;
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct SlstmOp : KernelFunction<SlstmOp> {
  static constexpr const char* kName = "sLSTM";

  static SlstmShape shape_of(const at::Tensor& gates) {
    return {.batch = gates.size(0),
            .time = gates.size(1),
            .heads = gates.size(3),
            .head_width = gates.size(4)};
  }

  // state [4, B, H, X] or missing.
  static variable_list forward(AutogradContext* context, const at::Tensor& gates_in,
                               const at::Tensor& recurrent, const at::Tensor& bias,
                               const MaybeTensor& state_in, bool keep) {
    const PartTimer timer("sLSTM, forward");
    const at::Tensor gates = gates_in.contiguous();
    const at::Tensor state = state_in.has_value() ? state_in->contiguous() : at::Tensor();
    const SlstmShape shape = shape_of(gates);
    at::Tensor y =
        at::empty({shape.batch, shape.time, shape.heads, shape.head_width}, gates.options());
    at::Tensor last = at::empty({4, shape.batch, shape.heads, shape.head_width}, gates.options());
    at::Tensor saved;
    if (keep) saved = at::empty({slstm_saved_size(shape)}, gates.options());
    slstm(shape, numbers(gates), numbers(recurrent), numbers(bias), numbers(state),
          mutable_numbers(y), mutable_numbers(last), mutable_numbers(saved));
    context->save_for_backward({recurrent, state, y, saved});
    context->saved_data["shape"] = gates.sizes().vec();
    return {y, last};
  }

  static variable_list gradients(AutogradContext* context, variable_list upstream) {
    const PartTimer timer("sLSTM, backward");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &recurrent = saved[0], &state = saved[1], &y = saved[2];
    const at::Tensor d_y = upstream[0].contiguous(), d_last = upstream[1].contiguous();
    at::Tensor dx = at::empty(context->saved_data["shape"].toIntVector(), y.options());
    WantedGradients wanted(context);
    const bool wants_x = wanted.next();
    const at::Tensor d_recurrent = wanted.next_like(recurrent);
    const at::Tensor d_bias =
        wanted.next() ? at::empty({4, y.size(2), y.size(3)}, y.options()) : at::Tensor();
    const at::Tensor d_state = wanted.next_like(state);
    slstm_backward(shape_of(dx), numbers(recurrent), numbers(state), numbers(y), numbers(saved[3]),
                   numbers(d_y), numbers(d_last), mutable_numbers(dx), mutable_numbers(d_recurrent),
                   mutable_numbers(d_bias), mutable_numbers(d_state));
    return {wants_x ? dx : at::Tensor(), d_recurrent, d_bias, d_state, at::Tensor()};
  }
};

CellRun slstm_by_kernel(const at::Tensor& gates, const at::Tensor& recurrent,
                        const at::Tensor& bias, const std::vector<at::Tensor>& states) {
  const at::Tensor state = states.empty() ? at::Tensor() : at::stack(states);
  const variable_list both =
      SlstmOp::apply(gates, recurrent, bias, maybe(state), at::GradMode::is_enabled());
  return {both[0].flatten(2),
          {both[1].select(0, 0), both[1].select(0, 1), both[1].select(0, 2), both[1].select(0, 3)}};
}

// LSTM (gates [B, T, 4 D]; no bias), GRU (gates [B, T, 3 D]) and tanh RNN ([B, T, D]; no bias).
struct GatedCellOp : KernelFunction<GatedCellOp> {
  static constexpr const char* kName = "LSTM, GRU and tanh RNN";

  enum Kind : std::int64_t { kTanh = 1, kGru = 3, kLstm = 4 };  // gates
  static Kind kind_of(const at::Tensor& recurrent) {
    return static_cast<Kind>(recurrent.size(0) / recurrent.size(1));
  }
  static const char* name_of(Kind kind, bool forward) {
    if (kind == kTanh) return forward ? "tanh RNN, forward" : "tanh RNN, backward";
    if (kind == kGru) return forward ? "GRU, forward" : "GRU, backward";
    return forward ? "LSTM, forward" : "LSTM, backward";
  }

  static CellShape shape_of(const at::Tensor& gates, const at::Tensor& recurrent) {
    return {
        .batch = gates.size(0), .time = gates.size(1), .heads = 1, .head_width = recurrent.size(1)};
  }

  // state [2 (LSTM) or 1, B, D] or missing.
  static variable_list forward(AutogradContext* context, const at::Tensor& gates_in,
                               const at::Tensor& recurrent, const MaybeTensor& bias,
                               const MaybeTensor& state_in, bool keep) {
    const Kind kind = kind_of(recurrent);
    const PartTimer timer(name_of(kind, true));
    const at::Tensor gates = gates_in.contiguous();
    const at::Tensor state = state_in.has_value() ? state_in->contiguous() : at::Tensor();
    const CellShape shape = shape_of(gates, recurrent);
    at::Tensor y = at::empty({shape.batch, shape.time, shape.head_width}, gates.options());
    at::Tensor last =
        at::empty({kind == kLstm ? 2 : 1, shape.batch, shape.head_width}, gates.options());
    at::Tensor saved;
    if (keep) {
      saved = at::empty({kind == kGru    ? gru_saved_size(shape)
                         : kind == kLstm ? lstm_saved_size(shape)
                                         : tanh_rnn_saved_size(shape)},
                        gates.options());
    }
    if (kind == kTanh) {
      tanh_rnn(shape, numbers(gates), numbers(recurrent), numbers(state), mutable_numbers(y),
               mutable_numbers(last), mutable_numbers(saved));
    } else if (kind == kGru) {
      gru(shape, numbers(gates), numbers(recurrent), numbers(*bias), numbers(state),
          mutable_numbers(y), mutable_numbers(last), mutable_numbers(saved));
    } else {
      lstm(shape, numbers(gates), numbers(recurrent), numbers(state), mutable_numbers(y),
           mutable_numbers(last), mutable_numbers(saved));
    }
    context->save_for_backward({recurrent, state, y, saved});
    context->saved_data["gates"] = gates.sizes().vec();
    return {y, last};
  }

  static variable_list gradients(AutogradContext* context, variable_list upstream) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &recurrent = saved[0], &state = saved[1], &y = saved[2];
    const Kind kind = kind_of(recurrent);
    const PartTimer timer(name_of(kind, false));
    const at::Tensor d_y = upstream[0].contiguous(), d_last = upstream[1].contiguous();
    at::Tensor dx = at::empty(context->saved_data["gates"].toIntVector(), y.options());
    WantedGradients wanted(context);
    const bool wants_x = wanted.next();
    const at::Tensor d_recurrent = wanted.next_like(recurrent);
    const at::Tensor d_bias =
        wanted.next(kind == kGru) ? at::empty({recurrent.size(0)}, y.options()) : at::Tensor();
    const at::Tensor d_state = wanted.next_like(state);
    const CellShape shape = shape_of(dx, recurrent);
    if (kind == kTanh) {
      tanh_rnn_backward(shape, numbers(recurrent), numbers(state), numbers(y), numbers(saved[3]),
                        numbers(d_y), numbers(d_last), mutable_numbers(dx),
                        mutable_numbers(d_recurrent), mutable_numbers(d_state));
    } else if (kind == kGru) {
      gru_backward(shape, numbers(recurrent), numbers(state), numbers(y), numbers(saved[3]),
                   numbers(d_y), numbers(d_last), mutable_numbers(dx), mutable_numbers(d_recurrent),
                   mutable_numbers(d_bias), mutable_numbers(d_state));
    } else {
      lstm_backward(shape, numbers(recurrent), numbers(state), numbers(y), numbers(saved[3]),
                    numbers(d_y), numbers(d_last), mutable_numbers(dx),
                    mutable_numbers(d_recurrent), mutable_numbers(d_state));
    }
    return {wants_x ? dx : at::Tensor(), d_recurrent, d_bias, d_state, at::Tensor()};
  }
};

CellRun gated_cell_by_kernel(const at::Tensor& gates, const at::Tensor& recurrent,
                             const at::Tensor& bias, const std::vector<at::Tensor>& states) {
  const at::Tensor state = states.empty() ? at::Tensor() : at::stack(states);
  const variable_list both = GatedCellOp::apply(gates, recurrent.contiguous(), maybe(bias),
                                                maybe(state), at::GradMode::is_enabled());
  return {both[0], both[1].unbind(0)};
}

}  // namespace

CellRun lstm(const at::Tensor& gates, const at::Tensor& recurrent, std::vector<at::Tensor> states,
             const CellTap& tap) {
  if (!tap && kernels_fit({gates, recurrent}))
    return gated_cell_by_kernel(gates, recurrent, {}, states);
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
  if (!tap && kernels_fit({gates, recurrent, recurrent_bias}))
    return gated_cell_by_kernel(gates, recurrent, recurrent_bias.contiguous(), states);
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

CellRun tanh_rnn(const at::Tensor& inputs, const at::Tensor& recurrent,
                 std::vector<at::Tensor> states, const CellTap& tap) {
  if (!tap && kernels_fit({inputs, recurrent}))
    return gated_cell_by_kernel(inputs, recurrent, {}, states);
  at::Tensor h = states.empty() ? zeros_like_step(inputs, recurrent.size(1)) : states[0];
  std::vector<at::Tensor> outputs;
  for (std::int64_t t = 0; t < inputs.size(1); ++t) {
    h = tapped(tap, t, (inputs.select(1, t) + at::linear(h, recurrent)).tanh());
    outputs.push_back(h);
  }
  return {at::stack(outputs, 1), {h}};
}

CellRun slstm(const at::Tensor& inputs, const at::Tensor& recurrent, const at::Tensor& bias,
              std::vector<at::Tensor> states, const CellTap& tap) {
  if (!tap && kernels_fit({inputs, recurrent, bias})) {
    return slstm_by_kernel(inputs, recurrent, bias, states);
  }
  const at::Tensor gates = inputs + bias;
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
