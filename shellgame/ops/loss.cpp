#include "shellgame/ops/loss.h"

#include <ATen/Functions.h>

namespace shellgame {

HeadLoss head_loss(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& targets,
                   bool l2_warp) {
  const at::Tensor counted = (targets >= 0).nonzero().squeeze(-1);
  at::Tensor correct = at::zeros(targets.sizes(), targets.options().dtype(at::kBool));
  if (counted.numel() == 0) return {x.sum() * 0, correct};
  const at::Tensor chosen = targets.index_select(0, counted);
  const at::Tensor logits = at::linear(x.index_select(0, counted), weight);
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
