// What training minimises, as a function of a model's end and of targets. Model::loss calls one:
// cross entropy, or another that is given (train/losses.h has them by name).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

#include "shellgame/models/stream.h"
#include "shellgame/ops/loss.h"

namespace shellgame {

// Targets that are distributions over tokens, at P places b T + t of a batch: weights[e] is the
// probability of tokens[e] at places[owners[e]].
struct SoftTargets {
  at::Tensor places = {}, truths = {};                // [P], int64; the token that came
  at::Tensor owners = {}, tokens = {}, weights = {};  // [E]: int64, int64, float
  bool empty() const { return !places.defined() || places.numel() == 0; }
  // Those of the tokens from, ..., from + length - 1 of rows of T, counted in rows of `length`.
  SoftTargets narrow(std::int64_t T, std::int64_t from, std::int64_t length) const;
};

// The targets of a batch or of a piece of it. A soft target's place has no hard one.
struct LossTargets {
  LossTargets(at::Tensor hard_targets, SoftTargets soft_targets = {}, at::Tensor value_places = {})
      : hard(std::move(hard_targets)),
        soft(std::move(soft_targets)),
        values(std::move(value_places)) {}
  at::Tensor hard;  // [B, T], int64; negative: none
  SoftTargets soft;
  at::Tensor values;  // [B, T], bool: where a value's token is the target; undefined: not asked for
  std::int64_t counted() const;
  // Those of the tokens from, ..., from + length - 1.
  LossTargets narrow(std::int64_t from, std::int64_t length) const;
};

// The end of a model: what its blocks give for N = B T tokens, the final norm and the head.
class LossHead {
 public:
  LossHead(const at::Tensor& x, const Norm& norm, const at::Tensor& head, bool l2_warp);
  // With gradients: the logits at places b T + t. [P] gives [P, vocabulary]; only so many are kept.
  at::Tensor logits(const at::Tensor& places) const;
  // The mean cross entropy of targets [N], as one kernel that keeps no logits.
  TokenLoss cross_entropy(const at::Tensor& targets) const;

 private:
  at::Tensor x_;  // [N, D]; normed if the norm is LayerNorm
  const Norm& norm_;
  const at::Tensor& head_;
  bool l2_warp_;
};

struct Loss {
  at::Tensor mean = {};      // scalar, with gradient: over `counted` targets; 0 where there is none
  std::int64_t counted = 0;  // targets.counted(): parts and pieces of a step weigh by it
  at::Tensor correct = {};   // [B, T] bool, where the target had the largest logit; else false
};

using LossFunction = std::function<Loss(const LossHead& head, const LossTargets& targets)>;

// Of hard targets through the fused kernel, of soft ones against their distribution.
Loss cross_entropy(const LossHead& head, const LossTargets& targets);

}  // namespace shellgame
