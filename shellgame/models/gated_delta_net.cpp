// Gated DeltaNet: the delta rule on a state that decays first, by one factor a head and token
// (flash-linear-attention's form: S <- e^g S, then the error is taken with the decayed state).
#include <ATen/Functions.h>

#include "shellgame/models/delta_parts.h"
#include "shellgame/models/mixers.h"
#include "shellgame/ops/norm.h"

namespace shellgame {
namespace {

class GatedDeltaNet : public Mixer {
 public:
  GatedDeltaNet(const Options& options, const MixerPlace& place, const Weights& weights)
      : heads_(options.size("num_heads")),
        value_heads_(options.size_or("num_v_heads", heads_)),
        key_width_(options.size("head_dim")),
        value_width_(expanded_width(options)),
        beta_range_(options.flag("allow_neg_eigval") ? 2 : 1),
        eps_(place.norm_eps),
        gate_activation_(options.word("output_gate_activation", {"swish", "silu", "sigmoid"})) {
    require_grouping(options, heads_, value_heads_);
    const std::int64_t keys = heads_ * key_width_, values = value_heads_ * value_width_;
    q_ = weights.linear("q_proj", keys, place.width);
    k_ = weights.linear("k_proj", keys, place.width);
    v_ = weights.linear("v_proj", values, place.width);
    a_ = weights.linear("a_proj", value_heads_, place.width);
    b_ = weights.linear("b_proj", value_heads_, place.width);
    decay_ = make_head_decay(weights, value_heads_, value_heads_, 0, 16);
    if (options.flag("use_short_conv")) {
      const std::int64_t width = options.size("conv_size");
      q_conv_ = weights.convolution("q_conv1d", keys, width);
      k_conv_ = weights.convolution("k_conv1d", keys, width);
      v_conv_ = weights.convolution("v_conv1d", values, width);
    }
    if (options.flag("use_gate")) g_ = weights.linear("g_proj", values, place.width);
    o_norm_ = weights.constant("o_norm.weight", {value_width_}, 1);
    o_ = weights.linear("o_proj", place.width, values);
  }

  at::Tensor forward(const Stream& stream, PartState* state, Pass& pass) const override {
    std::vector<at::Tensor> weights = {q_, k_, v_, a_, b_};
    if (g_.defined()) weights.push_back(g_);
    const std::vector<at::Tensor> parts = stream.project(weights);
    const auto keys = [&](const at::Tensor& x, const at::Tensor& conv, const std::string& name) {
      return l2_norm(
          spread_heads(split_heads(convolved(x, conv, "silu", name, state), heads_), value_heads_));
    };
    const at::Tensor q = keys(parts[0], q_conv_, "conv_q"), k = keys(parts[1], k_conv_, "conv_k");
    const at::Tensor v =
        split_heads(convolved(parts[2], v_conv_, "silu", "conv_v", state), value_heads_);
    const at::Tensor decay = decay_.log_decay(parts[3]);
    at::Tensor beta = parts[4].sigmoid();
    if (beta_range_ != 1) beta = beta * beta_range_;
    const DeltaInputs inputs{.q = pass.tap("q", q),
                             .k = pass.tap("k", k),
                             .v = pass.tap("v", v),
                             .beta = pass.tap("beta", beta),
                             .decay = pass.tap("decay", decay),
                             .key_decay = {},
                             .value_decay = {},
                             .start = remembered(state, "recurrent"),
                             .scale = 1 / std::sqrt(static_cast<double>(key_width_))};
    const Recurrence run = delta_rule(inputs, state_tap(pass));
    if (state != nullptr) (*state)["recurrent"] = run.state;
    const at::Tensor read = pass.tap("output", run.output);
    const at::Tensor o =
        g_.defined()
            ? gated_norm(read, o_norm_, eps_, split_heads(parts[5], value_heads_), gate_activation_)
            : rms_norm(read, o_norm_, eps_);
    return stream.add_projected(o.flatten(2), o_);
  }

  MixerDeclaration declaration() const override {
    return {.heads = value_heads_,
            .remembers = delta_memory(value_heads_, heads_, q_conv_.defined()),
            .delta_steps = true,
            .decay_tap = "decay"};
  }

 private:
  std::int64_t heads_, value_heads_, key_width_, value_width_;
  double beta_range_, eps_;
  std::string gate_activation_;
  HeadDecay decay_;
  at::Tensor q_, k_, v_, a_, b_, g_, o_, q_conv_, k_conv_, v_conv_, o_norm_;
};

}  // namespace

MixerEntry gated_delta_net_mixer() {
  return {.name = "gated_delta_net",
          .defaults = {{"num_heads", 6},
                       {"num_v_heads", nullptr},
                       {"head_dim", 256},
                       {"expand_v", 2.0},
                       {"use_gate", true},
                       {"use_short_conv", true},
                       {"conv_size", 4},
                       {"allow_neg_eigval", false},
                       {"output_gate_activation", "swish"}},
          .taps = {"q", "k", "v", "beta", "decay", "state", "output"},
          .make = make_mixer<GatedDeltaNet>};
}

}  // namespace shellgame
