#include "shellgame/ops/norm.h"

#include <ATen/Functions.h>

#include "shellgame/kernels/head_norm.h"
#include "shellgame/kernels/row_ops.h"
#include "shellgame/ops/activation.h"
#include "shellgame/ops/engine.h"
#include "shellgame/ops/kernel_function.h"
#include "shellgame/ops/rows.h"
#include "shellgame/ops/timing.h"

namespace shellgame {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct RmsNormOp : KernelFunction<RmsNormOp> {
  static constexpr const char* kName = "the norm";

  static at::Tensor forward(AutogradContext* context, const at::Tensor& x_in,
                            const MaybeTensor& weight, double eps) {
    const PartTimer timer("norm, forward");
    const at::Tensor x = even_rows(x_in);
    const std::int64_t rows = x.numel() / x.size(-1);
    at::Tensor y = at::empty(x.sizes(), x.options()), rstd = at::empty({rows}, x.options());
    rms_norm(rows, x.size(-1), const_rows(x), numbers(or_undefined(weight)),
             static_cast<float>(eps), mutable_rows(y), mutable_numbers(rstd));
    context->save_for_backward({x, or_undefined(weight), rstd});
    return y;
  }

  static variable_list gradients(AutogradContext* context, variable_list upstream) {
    const PartTimer timer("norm, backward");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const at::Tensor dy = even_rows(upstream[0]);
    WantedGradients wanted(context);
    const at::Tensor dx = wanted.next_like(x), d_weight = wanted.next_like(weight);
    rms_norm_backward(x.numel() / x.size(-1), x.size(-1), const_rows(x), numbers(weight),
                      numbers(saved[2]), const_rows(dy), {},
                      dx.defined() ? mutable_rows(dx) : Rows{}, mutable_numbers(d_weight));
    return {dx, d_weight, at::Tensor()};
  }
};

// Rows of heads, [B, T, H, X].
HeadSizes head_sizes(const at::Tensor& x) {
  return {.rows = static_cast<std::size_t>(x.size(0) * x.size(1)),
          .heads = static_cast<std::size_t>(x.size(2)),
          .width = static_cast<std::size_t>(x.size(3))};
}

struct L2NormOp : KernelFunction<L2NormOp> {
  static constexpr const char* kName = "the l2 norm";

  static at::Tensor forward(AutogradContext* context, const at::Tensor& x_in, double eps) {
    const PartTimer timer("l2 norm, forward");
    const at::Tensor x = even_heads(x_in);
    at::Tensor y = at::empty(x.sizes(), x.options());
    l2_norm_forward(head_sizes(x), head_rows(x), static_cast<float>(eps), mutable_head_rows(y));
    context->save_for_backward({x});
    context->saved_data["eps"] = eps;
    return y;
  }

  static variable_list gradients(AutogradContext* context, variable_list upstream) {
    const PartTimer timer("l2 norm, backward");
    const at::Tensor x = context->get_saved_variables()[0], dy = even_heads(upstream[0]);
    at::Tensor dx = at::empty(x.sizes(), x.options());
    l2_norm_backward(head_sizes(x), head_rows(x),
                     static_cast<float>(context->saved_data["eps"].toDouble()), head_rows(dy),
                     mutable_head_rows(dx));
    return {dx, at::Tensor()};
  }
};

struct GatedNormOp : KernelFunction<GatedNormOp> {
  static constexpr const char* kName = "the gated norm";

  static GatedNormInput<float> input_of(const at::Tensor& x, const at::Tensor& weight,
                                        const at::Tensor& gate, AutogradContext* context) {
    return {.x = head_rows(x),
            .gate = head_rows(gate),
            .weight = numbers(weight),
            .eps = static_cast<float>(context->saved_data["eps"].toDouble()),
            .activation = context->saved_data["sigmoid"].toBool() ? GateActivation::kSigmoid
                                                                  : GateActivation::kSilu};
  }

  static at::Tensor forward(AutogradContext* context, const at::Tensor& x_in,
                            const at::Tensor& weight, double eps, const at::Tensor& gate_in,
                            bool sigmoid) {
    const PartTimer timer("gated norm, forward");
    const at::Tensor x = even_heads(x_in), gate = even_heads(gate_in);
    context->saved_data["eps"] = eps;
    context->saved_data["sigmoid"] = sigmoid;
    at::Tensor y = at::empty(x.sizes(), x.options());
    gated_norm_forward(head_sizes(x), input_of(x, weight, gate, context), mutable_head_rows(y));
    context->save_for_backward({x, weight, gate});
    return y;
  }

  static variable_list gradients(AutogradContext* context, variable_list upstream) {
    const PartTimer timer("gated norm, backward");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &gate = saved[2];
    const at::Tensor dy = even_heads(upstream[0]);
    WantedGradients wanted(context);
    const at::Tensor dx = wanted.next_like(x), d_weight = wanted.next_like(weight),
                     d_gate = wanted.next_like(gate);
    gated_norm_backward(head_sizes(x), input_of(x, weight, gate, context),
                        {.dy = head_rows(dy),
                         .dx = mutable_head_rows(dx),
                         .dgate = mutable_head_rows(d_gate),
                         .dweight = mutable_numbers(d_weight)});
    return {dx, d_weight, at::Tensor(), d_gate, at::Tensor()};
  }
};

}  // namespace

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  if (kernels_fit({x, weight})) return RmsNormOp::apply(x, maybe(weight), eps);
  at::Tensor y = x * (x.square().mean(-1, true) + eps).rsqrt();
  return weight.defined() ? y * weight : y;
}

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                      double eps) {
  return at::layer_norm(x, {x.size(-1)}, weight, bias, eps);
}

at::Tensor l2_norm(const at::Tensor& x, double eps) {
  if (x.dim() == 4 && x.numel() > 0 && kernels_fit({x})) return L2NormOp::apply(x, eps);
  return x * (x.square().sum(-1, true) + eps).rsqrt();
}

at::Tensor gated_norm(const at::Tensor& x, const at::Tensor& weight, double eps,
                      const at::Tensor& gate, const std::string& activation) {
  const bool sigmoid = activation == "sigmoid";
  const bool known = sigmoid || activation == "silu" || activation == "swish";
  if (known && x.dim() == 4 && x.numel() > 0 && kernels_fit({x, weight, gate})) {
    return GatedNormOp::apply(x, weight, eps, gate, sigmoid);
  }
  return rms_norm(x, weight, eps) * activate(activation, gate);
}

}  // namespace shellgame
