// What the mixers of the delta-rule family (and some others) share.
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

// What mixers of this family remember: the state "recurrent" [B, H, K, V] and, where `convolved`,
// the last inputs "conv_q" (of `key_heads`), "conv_k" (of n * `key_heads`) and "conv_v" (of n * H).
std::vector<Remembered> delta_memory(std::int64_t heads, std::int64_t key_heads, bool convolved,
                                     std::int64_t steps = 1);

// x_{t-1} - x_t (x_{-1} = 0), of x [B, T, D]; the last token is remembered as "last".
at::Tensor token_shift(const at::Tensor& x, PartState* state);

// The tap "state", or none.
StateTap state_tap(const Pass& pass);

// The keys' heads, each repeated for its group of value heads: [B, T, H, X] as [B, T, HV, X].
at::Tensor spread_heads(const at::Tensor& x, std::int64_t value_heads);
// Refuses value heads that are not a multiple of the key heads.
void require_grouping(const Options& options, std::int64_t heads, std::int64_t value_heads);
// int(head_dim * expand_v).
std::int64_t expanded_width(const Options& options);

// The decay that Gated DeltaNet, KDA and Mamba2 share: log decay = -e^A_log softplus(x + dt_bias).
struct HeadDecay {
  at::Tensor rate;  // A_log [H]
  at::Tensor bias;  // dt_bias [H], or [H * K]

  // x [B, T, H] to [B, T, H].
  at::Tensor log_decay(const at::Tensor& x) const;
  // x [B, T, H * K] to [B, T, H, K].
  at::Tensor log_decay_of_channels(const at::Tensor& x, std::int64_t heads) const;
  // The same within (bound, 0): bound * sigmoid(e^A_log (x + dt_bias)).
  at::Tensor bounded(const at::Tensor& x, double bound, std::int64_t heads) const;
};

// A_log = log U(from, to); dt_bias = softplus^-1 of a step drawn log-uniformly from 0.001 to 0.1.
HeadDecay make_head_decay(const Weights& weights, std::int64_t heads, std::int64_t biases,
                          double from, double to);
// softplus^-1(exp(U(log least, log most))), not below `floor`.
double draw_step_bias(RandomStream& stream, double least, double most, double floor);

template <class Kind>
std::unique_ptr<Mixer> make_mixer(const Options& options, const MixerPlace& place,
                                  const Weights& weights) {
  return std::make_unique<Kind>(options, place, weights);
}

}  // namespace shellgame
