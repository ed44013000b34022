// What the mixers of the delta-rule family share.
#pragma once

#include <ATen/core/Tensor.h>

#include <cmath>
#include <memory>
#include <string>

#include "shellgame/models/mixer.h"
#include "shellgame/ops/delta_rule.h"

namespace shellgame {

// [B, T, H * X] as [B, T, H, X].
at::Tensor split_heads(const at::Tensor& x, std::int64_t heads);

// What was remembered under a name, or an undefined tensor.
at::Tensor remembered(const PartState* state, const std::string& name);

// The short convolution of x [B, T, C] with `weight` [C, 1, W] and an activation; its last inputs
// are remembered under `name`. An undefined weight leaves the activation.
at::Tensor convolved(const at::Tensor& x, const at::Tensor& weight, const std::string& activation,
                     const std::string& name, PartState* state, const at::Tensor& bias = {});

// The tap "state", or none.
StateTap state_tap(const Pass& pass);

template <class Kind>
std::unique_ptr<Mixer> make_mixer(const Options& options, const MixerPlace& place,
                                  const Weights& weights) {
  return std::make_unique<Kind>(options, place, weights);
}

}  // namespace shellgame
