#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include "shellgame/kernels/dplr_rule.h"
#include "shellgame/ops/delta_rule_kernel.h"
#include "shellgame/ops/kernel_function.h"
#include "shellgame/ops/rows.h"
#include "shellgame/ops/timing.h"

namespace shellgame {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// In the order in which they are saved.
enum Part : std::size_t { kQ, kDecay, kK, kV, kA, kB, kStart, kParts };

DeltaSizes sizes_of(const variable_list& parts) {
  const auto size = [](const at::Tensor& x, std::int64_t d) {
    return static_cast<std::size_t>(x.size(d));
  };
  return {.B = size(parts[kQ], 0),
          .T = size(parts[kQ], 1),
          .H = size(parts[kQ], 2),
          .K = size(parts[kQ], 3),
          .V = size(parts[kV], 3)};
}

DplrRuleInput<float> input_of(const variable_list& parts, double scale) {
  DplrRuleInput<float> input;
  input.q = head_rows(parts[kQ]);
  input.w = head_rows(parts[kDecay]);
  input.a = head_rows(parts[kA]);
  input.b = head_rows(parts[kB]);
  input.k = head_rows(parts[kK]);
  input.v = head_rows(parts[kV]);
  input.h0 = numbers(parts[kStart]);
  input.scale = static_cast<float>(scale);
  return input;
}

struct LowRankOp : KernelFunction<LowRankOp> {
  static constexpr const char* kName = "the low-rank rule";

  static variable_list forward(AutogradContext* context, const at::Tensor& q,
                               const at::Tensor& decay, const at::Tensor& k, const at::Tensor& v,
                               const at::Tensor& a, const at::Tensor& b, const MaybeTensor& start,
                               double scale, bool keep) {
    const PartTimer timer("low-rank rule, forward");
    variable_list parts = {even_heads(q), even_heads(decay), even_heads(k),
                           even_heads(v), even_heads(a),     even_heads(b)};
    parts.push_back(start.has_value() ? start->contiguous() : at::Tensor());
    const DeltaSizes sizes = sizes_of(parts);
    at::Tensor o = at::empty({q.size(0), q.size(1), q.size(2), v.size(3)}, v.options());
    at::Tensor state = at::empty({q.size(0), q.size(2), q.size(3), v.size(3)}, v.options());
    at::Tensor saved;
    if (keep) {
      saved = at::empty({static_cast<std::int64_t>(dplr_rule_saved_size(sizes))}, v.options());
    }
    dplr_rule_forward(sizes, input_of(parts, scale), {mutable_head_rows(o), mutable_numbers(state)},
                      mutable_numbers(saved));
    parts.push_back(saved);
    context->save_for_backward(parts);
    context->saved_data["scale"] = scale;
    return {o, state};
  }

  static variable_list gradients(AutogradContext* context, variable_list upstream) {
    const PartTimer timer("low-rank rule, backward");
    const variable_list parts = context->get_saved_variables();
    variable_list result(kParts + 2);
    WantedGradients wanted(context);
    for (std::size_t i = 0; i < kParts; ++i) result[i] = wanted.next_like(parts[i]);
    const at::Tensor d_o = even_heads(upstream[0]), d_state = upstream[1].contiguous();
    DplrRuleGradients<float> gradients;
    gradients.d_o = head_rows(d_o);
    gradients.dht = numbers(d_state);
    gradients.dq = mutable_head_rows(result[kQ]);
    gradients.dw = mutable_head_rows(result[kDecay]);
    gradients.da = mutable_head_rows(result[kA]);
    gradients.db = mutable_head_rows(result[kB]);
    gradients.dk = mutable_head_rows(result[kK]);
    gradients.dv = mutable_head_rows(result[kV]);
    gradients.dh0 = mutable_numbers(result[kStart]);
    dplr_rule_backward(sizes_of(parts), input_of(parts, context->saved_data["scale"].toDouble()),
                       numbers(parts[kParts]), gradients);
    return result;
  }
};

}  // namespace

Recurrence low_rank_rule_by_kernel(const LowRankInputs& in) {
  const variable_list both =
      LowRankOp::apply(in.q, in.decay, in.k, in.v, in.a, in.b, maybe(in.start), in.scale,
                       at::GradMode::is_enabled());
  return {both[0], both[1]};
}

}  // namespace shellgame
