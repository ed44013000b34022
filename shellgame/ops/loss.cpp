#include "shellgame/ops/loss.h"

#include <ATen/Functions.h>
#include <torch/csrc/autograd/custom_function.h>

#include "shellgame/kernels/head_loss.h"
#include "shellgame/ops/engine.h"
#include "shellgame/ops/norm.h"
#include "shellgame/ops/rows.h"
#include "shellgame/ops/timing.h"

namespace shellgame {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// The kernel makes the gradients in the forward sweep; backward only scales them.
struct TokenLossOp : Function<TokenLossOp> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x_in,
                               const MaybeTensor& maybe_norm, double eps, const at::Tensor& head,
                               const at::Tensor& targets, bool gradients) {
    const PartTimer timer("head and loss, forward");
    const at::Tensor x = even_rows(x_in), norm = or_undefined(maybe_norm);
    at::Tensor right = at::empty(targets.sizes(), targets.options().dtype(at::kChar));
    HeadLossInputs inputs;
    inputs.rows = x.size(0);
    inputs.width = x.size(1);
    inputs.vocabulary = head.size(0);
    inputs.x = const_rows(x);
    inputs.norm_weight = numbers(norm);
    inputs.eps = static_cast<float>(eps);
    inputs.head = numbers(head);
    inputs.targets = targets.data_ptr<std::int64_t>();
    HeadLossOutputs outputs;
    outputs.row_right = right.data_ptr<std::int8_t>();
    at::Tensor dx, d_head, d_norm;
    if (gradients) {
      dx = at::empty(x.sizes(), x.options());
      d_head = at::empty_like(head);
      outputs.dx = mutable_rows(dx);
      outputs.d_head = mutable_numbers(d_head);
      if (norm.defined()) d_norm = at::empty_like(norm);
      outputs.d_norm_weight = mutable_numbers(d_norm);
    }
    const HeadLoss loss = head_loss(inputs, outputs);
    context->saved_data["dx"] = dx;
    context->saved_data["d_head"] = d_head;
    context->saved_data["d_norm"] = d_norm;
    context->mark_non_differentiable({right});
    return {at::full({}, loss.loss, x.options()), right};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const PartTimer timer("head and loss, backward");
    const double scale = gradients[0].item<double>();
    const auto scaled = [&](const char* name) {
      const at::Tensor value = context->saved_data[name].toTensor();
      return scale == 1 || !value.defined() ? value : value * scale;
    };
    return {scaled("dx"),     scaled("d_norm"), at::Tensor(),
            scaled("d_head"), at::Tensor(),     at::Tensor()};
  }
};

}  // namespace

TokenLoss token_loss(const at::Tensor& x, const at::Tensor& norm_weight, double eps,
                     const at::Tensor& weight, const at::Tensor& targets, bool l2_warp) {
  if (!l2_warp && kernels_fit({x, norm_weight, weight})) {
    const variable_list both = TokenLossOp::apply(x, maybe(norm_weight), eps, weight,
                                                  targets.contiguous(), at::GradMode::is_enabled());
    return {both[0], both[1].to(at::kBool)};
  }
  const at::Tensor counted = (targets >= 0).nonzero().squeeze(-1);
  at::Tensor correct = at::zeros(targets.sizes(), targets.options().dtype(at::kBool));
  if (counted.numel() == 0) return {x.sum() * 0, correct};
  const at::Tensor chosen = targets.index_select(0, counted);
  at::Tensor rows = x.index_select(0, counted);
  if (norm_weight.defined()) rows = rms_norm(rows, norm_weight, eps);
  const at::Tensor logits = at::linear(rows, weight);
  at::Tensor loss = at::cross_entropy_loss(logits, chosen);
  if (l2_warp) {
    // RWKV's pull on the largest logit: in the gradient only, 1e-4 / N times that logit.
    const at::Tensor pull =
        logits.amax(-1).square().sum() * (0.5e-4 / static_cast<double>(counted.numel()));
    loss = loss + (pull - pull.detach());
  }
  correct.index_put_({counted}, logits.detach().argmax(-1) == chosen);
  return {loss, correct};
}

}  // namespace shellgame
