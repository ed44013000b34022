#include "shellgame/ops/loss.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include "shellgame/kernels/head_loss.h"
#include "shellgame/kernels/row_ops.h"
#include "shellgame/ops/engine.h"
#include "shellgame/ops/kernel_function.h"
#include "shellgame/ops/norm.h"
#include "shellgame/ops/rows.h"
#include "shellgame/ops/timing.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// From this size of the head on the products are left to Torch, in blocks of rows: measured with
// gradients at 512 x 512 to 151,936, the kernel had 0.8 times the speed of plain operations (at
// 46,880 x 64 to 90 it has 4.3 times).
constexpr std::int64_t kLargeHead = std::int64_t{1} << 24;
constexpr std::int64_t kBlockRows = 256;

// The kernel's work in Torch operations, block by block: logits of kBlockRows rows are all that is
// stored.
HeadLoss head_loss_in_blocks(const HeadLossInputs& in, const HeadLossOutputs& out,
                             const at::Tensor& x_all, const at::Tensor& head,
                             const at::Tensor& targets) {
  const at::NoGradGuard no_gradients;
  const bool weights = out.d_head != nullptr, norms = out.d_norm_weight != nullptr,
             rows_too = out.dx.data != nullptr;
  const at::Tensor counted = (targets >= 0).nonzero().squeeze(-1);
  const std::int64_t rows = counted.numel();
  if (rows > 0 && targets.max().item<std::int64_t>() >= in.vocabulary) {
    wrong_use("a target must be below the vocabulary's size of {}, not {}", in.vocabulary,
              targets.max().item<std::int64_t>());
  }
  HeadLoss result{.loss = 0, .counted = rows, .right = 0};
  const at::Tensor right =
      at::from_blob(out.row_right, targets.sizes(), targets.options().dtype(at::kChar));
  right.zero_();
  at::Tensor dx, d_head, d_norm;
  if (rows_too) dx = at::from_blob(out.dx.data, x_all.sizes(), x_all.options()).zero_();
  if (weights) d_head = at::from_blob(out.d_head, head.sizes(), head.options()).zero_();
  if (norms) d_norm = at::from_blob(out.d_norm_weight, {in.width}, head.options()).zero_();
  for (std::int64_t first = 0; first < rows; first += kBlockRows) {
    const std::int64_t count = std::min(kBlockRows, rows - first);
    const at::Tensor places = counted.narrow(0, first, count);
    const at::Tensor wanted = targets.index_select(0, places).unsqueeze(-1);
    const at::Tensor x = x_all.index_select(0, places);
    at::Tensor n = x, rstd;
    if (in.norm_weight != nullptr) {
      n = at::empty_like(x);
      rstd = at::empty({count}, x.options());
      rms_norm(count, in.width, const_rows(x), in.norm_weight, in.eps, mutable_rows(n),
               mutable_numbers(rstd));
    }
    at::Tensor logits = at::mm(n, head.t());
    const auto [most, best] = logits.max(-1, true);
    right.index_put_({places}, (best == wanted).squeeze(-1).to(at::kChar));
    result.right += (best == wanted).sum().item<std::int64_t>();
    logits.sub_(most);
    const at::Tensor chosen = logits.gather(-1, wanted);
    logits.exp_();
    const at::Tensor sum = logits.sum(-1, true);
    result.loss += (sum.log() - chosen).to(at::kDouble).sum().item<double>();
    if (!rows_too && !weights && !norms) continue;
    // The gradient of the mean: (softmax - one-hot) / rows.
    logits.div_(sum * static_cast<double>(rows));
    logits.scatter_add_(
        -1, wanted, at::full(wanted.sizes(), -1.0 / static_cast<double>(rows), logits.options()));
    if (weights) d_head.addmm_(logits.t(), n);
    if (!rows_too && !norms) continue;
    at::Tensor d_rows = at::mm(logits, head);
    if (in.norm_weight != nullptr) {
      const at::Tensor d_normed = d_rows;
      at::Tensor d_weight = at::empty({in.width}, x.options());
      d_rows = at::empty_like(d_normed);
      rms_norm_backward(count, in.width, const_rows(x), in.norm_weight, numbers(rstd),
                        const_rows(d_normed), {}, mutable_rows(d_rows), mutable_numbers(d_weight));
      if (norms) d_norm.add_(d_weight);
    }
    if (rows_too) dx.index_copy_(0, places, d_rows);
  }
  if (rows > 0) result.loss /= static_cast<double>(rows);
  return result;
}

// The gradients are made in the forward sweep; backward only scales them.
struct TokenLossOp : KernelFunction<TokenLossOp> {
  static constexpr const char* kName = "head and loss";

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
    if (gradients && x_in.requires_grad()) {
      dx = at::empty(x.sizes(), x.options());
      outputs.dx = mutable_rows(dx);
    }
    if (gradients && head.requires_grad()) d_head = at::empty_like(head);
    if (gradients && norm.defined() && norm.requires_grad()) d_norm = at::empty_like(norm);
    outputs.d_head = mutable_numbers(d_head);
    outputs.d_norm_weight = mutable_numbers(d_norm);
    const HeadLoss loss = head.numel() < kLargeHead
                              ? head_loss(inputs, outputs)
                              : head_loss_in_blocks(inputs, outputs, x, head, targets);
    context->saved_data["dx"] = dx;
    context->saved_data["d_head"] = d_head;
    context->saved_data["d_norm"] = d_norm;
    context->mark_non_differentiable({right});
    return {at::full({}, loss.loss, x.options()), right};
  }

  static variable_list gradients(AutogradContext* context, variable_list upstream) {
    const PartTimer timer("head and loss, backward");
    const double scale = upstream[0].item<double>();
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
