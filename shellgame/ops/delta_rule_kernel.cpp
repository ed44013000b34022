#include "shellgame/ops/delta_rule_kernel.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include "shellgame/kernels/delta_rule.h"
#include "shellgame/ops/kernel_function.h"
#include "shellgame/ops/rows.h"
#include "shellgame/ops/timing.h"

namespace shellgame {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// In the order in which they are saved.
enum Part : std::size_t { kQ, kK, kV, kBeta, kDecay, kKeyDecay, kValueDecay, kStart, kParts };

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

DeltaRuleInput<float> input_of(const variable_list& parts, double scale) {
  DeltaRuleInput<float> input;
  input.q = head_rows(parts[kQ]);
  input.k = head_rows(parts[kK]);
  input.v = head_rows(parts[kV]);
  input.beta = head_rows(parts[kBeta]);
  input.g = head_rows(parts[kDecay]);
  input.gk = head_rows(parts[kKeyDecay]);
  input.gv = head_rows(parts[kValueDecay]);
  input.h0 = numbers(parts[kStart]);
  input.scale = static_cast<float>(scale);
  input.error_term = parts[kBeta].defined();
  return input;
}

struct DeltaRuleOp : KernelFunction<DeltaRuleOp> {
  static constexpr const char* kName = "the delta rule";

  static variable_list forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k,
                               const at::Tensor& v, const MaybeTensor& beta,
                               const MaybeTensor& decay, const MaybeTensor& key_decay,
                               const MaybeTensor& value_decay, const MaybeTensor& start,
                               double scale, bool keep) {
    const PartTimer timer("delta rule, forward");
    variable_list parts = {even_heads(q), even_heads(k), even_heads(v)};
    for (const MaybeTensor* part : {&beta, &decay, &key_decay, &value_decay}) {
      parts.push_back(even_heads(or_undefined(*part)));
    }
    parts.push_back(start.has_value() ? start->contiguous() : at::Tensor());
    const DeltaSizes sizes = sizes_of(parts);
    const DeltaRuleInput<float> input = input_of(parts, scale);
    at::Tensor o = at::empty({q.size(0), q.size(1), q.size(2), v.size(3)}, v.options());
    at::Tensor state = at::empty({q.size(0), q.size(2), q.size(3), v.size(3)}, v.options());
    at::Tensor saved;
    if (keep) {
      saved =
          at::empty({static_cast<std::int64_t>(delta_rule_saved_size(sizes, input))}, v.options());
    }
    delta_rule_forward(sizes, input, {mutable_head_rows(o), mutable_numbers(state)},
                       mutable_numbers(saved));
    parts.push_back(saved);
    context->save_for_backward(parts);
    context->saved_data["scale"] = scale;
    return {o, state};
  }

  static variable_list gradients(AutogradContext* context, variable_list upstream) {
    const PartTimer timer("delta rule, backward");
    const variable_list parts = context->get_saved_variables();
    const DeltaSizes sizes = sizes_of(parts);
    const DeltaRuleInput<float> input = input_of(parts, context->saved_data["scale"].toDouble());
    variable_list result(kParts + 2);
    WantedGradients wanted(context);
    for (std::size_t i = 0; i < kParts; ++i) result[i] = wanted.next_like(parts[i]);
    const at::Tensor d_o = even_heads(upstream[0]), d_state = upstream[1].contiguous();
    DeltaRuleGradients<float> gradients;
    gradients.d_o = head_rows(d_o);
    gradients.dht = numbers(d_state);
    gradients.dq = mutable_head_rows(result[kQ]);
    gradients.dk = mutable_head_rows(result[kK]);
    gradients.dv = mutable_head_rows(result[kV]);
    gradients.dbeta = mutable_head_rows(result[kBeta]);
    gradients.dg = mutable_head_rows(result[kDecay]);
    gradients.dgk = mutable_head_rows(result[kKeyDecay]);
    gradients.dgv = mutable_head_rows(result[kValueDecay]);
    gradients.dh0 = mutable_numbers(result[kStart]);
    delta_rule_backward(sizes, input, numbers(parts[kParts]), gradients);
    return result;
  }
};

}  // namespace

Recurrence delta_rule_by_kernel(const DeltaInputs& in) {
  const variable_list both = DeltaRuleOp::apply(
      in.q, in.k, in.v, maybe(in.beta), maybe(in.decay), maybe(in.key_decay), maybe(in.value_decay),
      maybe(in.start), in.scale, at::GradMode::is_enabled());
  return {both[0], both[1]};
}

}  // namespace shellgame
