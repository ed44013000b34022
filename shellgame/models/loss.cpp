#include "shellgame/models/loss.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

namespace shellgame {

SoftTargets SoftTargets::narrow(std::int64_t T, std::int64_t from, std::int64_t length) const {
  const at::Tensor rows = places.div(T, "floor"), times = places - rows * T;
  const at::Tensor here = ((times >= from) & (times < from + length)).nonzero().squeeze(-1);
  // Which of the places that stay an entry belongs to.
  at::Tensor renumbered = at::full({places.numel()}, -1, places.options());
  renumbered.index_put_({here}, at::arange(here.numel(), places.options()));
  const at::Tensor owned = renumbered.index_select(0, owners);
  const at::Tensor entries = (owned >= 0).nonzero().squeeze(-1);
  return {.places = (rows * length + times - from).index_select(0, here),
          .truths = truths.index_select(0, here),
          .owners = owned.index_select(0, entries),
          .tokens = tokens.index_select(0, entries),
          .weights = weights.index_select(0, entries)};
}

std::int64_t LossTargets::counted() const {
  return (hard >= 0).sum().item<std::int64_t>() + (soft.empty() ? 0 : soft.places.numel());
}

LossTargets LossTargets::narrow(std::int64_t from, std::int64_t length) const {
  return {hard.narrow(1, from, length),
          soft.empty() ? SoftTargets() : soft.narrow(hard.size(1), from, length),
          values.defined() ? values.narrow(1, from, length) : at::Tensor()};
}

LossHead::LossHead(const at::Tensor& x, const Norm& norm, const at::Tensor& head, bool l2_warp)
    : x_(norm.centred ? norm(x) : x), norm_(norm), head_(head), l2_warp_(l2_warp) {}

at::Tensor LossHead::logits(const at::Tensor& places) const {
  const at::Tensor rows = x_.index_select(0, places);
  return at::linear(norm_.centred ? rows : norm_(rows), head_);
}

TokenLoss LossHead::cross_entropy(const at::Tensor& targets) const {
  return token_loss(x_, norm_.centred ? at::Tensor() : norm_.weight, norm_.eps, head_, targets,
                    l2_warp_);
}

Loss cross_entropy(const LossHead& head, const LossTargets& targets) {
  const TokenLoss hard = head.cross_entropy(targets.hard.flatten());
  Loss loss{.mean = hard.mean,
            .counted = (targets.hard >= 0).sum().item<std::int64_t>(),
            .correct = hard.correct.view(targets.hard.sizes())};
  const SoftTargets& soft = targets.soft;
  if (soft.empty()) return loss;
  const at::Tensor logits = head.logits(soft.places);
  const at::Tensor chosen = at::log_softmax(logits, -1).index({soft.owners, soft.tokens});
  const at::Tensor sum = -(chosen * soft.weights.to(chosen.scalar_type())).sum();
  const std::int64_t all = loss.counted + soft.places.numel();
  loss.mean = (loss.mean * static_cast<double>(loss.counted) + sum) / static_cast<double>(all);
  loss.counted = all;
  loss.correct = loss.correct.clone();
  loss.correct.view({-1}).index_put_({soft.places}, logits.argmax(-1) == soft.truths);
  return loss;
}

}  // namespace shellgame
