#include "shellgame/ops/norm.h"

#include <ATen/Functions.h>
#include <torch/csrc/autograd/custom_function.h>

#include "shellgame/kernels/row_ops.h"
#include "shellgame/ops/engine.h"
#include "shellgame/ops/rows.h"
#include "shellgame/ops/timing.h"

namespace shellgame {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct RmsNormOp : Function<RmsNormOp> {
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

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const PartTimer timer("norm, backward");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const at::Tensor dy = even_rows(gradients[0]);
    at::Tensor dx = at::empty(x.sizes(), x.options());
    at::Tensor d_weight = weight.defined() ? at::empty_like(weight) : at::Tensor();
    rms_norm_backward(x.numel() / x.size(-1), x.size(-1), const_rows(x), numbers(weight),
                      numbers(saved[2]), const_rows(dy), {}, mutable_rows(dx),
                      mutable_numbers(d_weight));
    return {dx, d_weight, at::Tensor()};
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
  return x * (x.square().sum(-1, true) + eps).rsqrt();
}

}  // namespace shellgame
