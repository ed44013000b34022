// Kimi Delta Attention: the delta rule on a state that decays first, each key channel by its own
// factor; the output is gated by a sigmoid.
#include <ATen/Functions.h>

#include "shellgame/models/delta_parts.h"
#include "shellgame/models/mixers.h"
#include "shellgame/ops/norm.h"

namespace shellgame {
namespace {

class Kda : public Mixer {
 public:
  Kda(const Options& options, const MixerPlace& place, const Weights& weights)
      : heads_(options.size("num_heads")),
        value_heads_(options.size_or("num_v_heads", heads_)),
        key_width_(options.size("head_dim")),
        value_width_(expanded_width(options)),
        beta_range_(options.flag("allow_neg_eigval") ? 2 : 1),
        lower_bound_(options.number_or("lower_bound", 0)),
        eps_(place.norm_eps) {
    if (options.flag("safe_gate")) {
      options.refuse("'safe_gate' must be false: that form of KDA is not supported");
    }
    require_grouping(options, heads_, value_heads_);
    const std::int64_t keys = heads_ * key_width_, values = value_heads_ * value_width_;
    q_ = weights.linear("q_proj", keys, place.width);
    k_ = weights.linear("k_proj", keys, place.width);
    v_ = weights.linear("v_proj", values, place.width);
    if (options.flag("use_short_conv")) {
      const std::int64_t width = options.size("conv_size");
      q_conv_ = weights.convolution("q_conv1d", keys, width);
      k_conv_ = weights.convolution("k_conv1d", keys, width);
      v_conv_ = weights.convolution("v_conv1d", values, width);
    }
    f_in_ = weights.linear("f_proj.0", value_width_, place.width);
    f_out_ = weights.linear("f_proj.1", value_heads_ * key_width_, value_width_);
    b_ = weights.linear("b_proj", value_heads_, place.width);
    decay_ = make_head_decay(weights, value_heads_, value_heads_ * key_width_, 1, 16);
    g_in_ = weights.linear("g_proj.0", value_width_, place.width);
    g_out_ = weights.linear("g_proj.1", values, value_width_);
    g_bias_ = weights.constant("g_proj.1.bias", {values}, 0);
    o_norm_ = weights.constant("o_norm.weight", {value_width_}, 1);
    o_ = weights.linear("o_proj", place.width, values);
  }

  at::Tensor forward(const Stream& stream, PartState* state, Pass& pass) const override {
    const std::vector<at::Tensor> parts = stream.project({q_, k_, v_, f_in_, b_, g_in_});
    const auto keys = [&](const at::Tensor& x, const at::Tensor& conv, const std::string& name) {
      return l2_norm(
          spread_heads(split_heads(convolved(x, conv, "silu", name, state), heads_), value_heads_));
    };
    const at::Tensor q = keys(parts[0], q_conv_, "conv_q"), k = keys(parts[1], k_conv_, "conv_k");
    const at::Tensor v =
        split_heads(convolved(parts[2], v_conv_, "silu", "conv_v", state), value_heads_);
    const at::Tensor f = at::linear(parts[3], f_out_);
    const at::Tensor decay = lower_bound_ != 0 ? decay_.bounded(f, lower_bound_, value_heads_)
                                               : decay_.log_decay_of_channels(f, value_heads_);
    at::Tensor beta = parts[4].sigmoid();
    if (beta_range_ != 1) beta = beta * beta_range_;
    const DeltaInputs inputs{.q = pass.tap("q", q),
                             .k = pass.tap("k", k),
                             .v = pass.tap("v", v),
                             .beta = pass.tap("beta", beta),
                             .decay = {},
                             .key_decay = pass.tap("decay", decay),
                             .value_decay = {},
                             .start = remembered(state, "recurrent"),
                             .scale = 1 / std::sqrt(static_cast<double>(key_width_))};
    const Recurrence run = delta_rule(inputs, state_tap(pass));
    if (state != nullptr) (*state)["recurrent"] = run.state;
    const at::Tensor gate = split_heads(at::linear(parts[5], g_out_, g_bias_), value_heads_);
    const at::Tensor o = gated_norm(pass.tap("output", run.output), o_norm_, eps_, gate, "sigmoid");
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
  double beta_range_, lower_bound_, eps_;
  HeadDecay decay_;
  at::Tensor q_, k_, v_, f_in_, f_out_, b_, g_in_, g_out_, g_bias_, o_, q_conv_, k_conv_, v_conv_,
      o_norm_;
};

}  // namespace

MixerEntry kda_mixer() {
  return {.name = "kda",
          .defaults = {{"num_heads", 16},
                       {"num_v_heads", nullptr},
                       {"head_dim", 128},
                       {"expand_v", 1.0},
                       {"use_short_conv", true},
                       {"conv_size", 4},
                       {"allow_neg_eigval", false},
                       {"safe_gate", false},
                       {"lower_bound", nullptr}},
          .taps = {"q", "k", "v", "beta", "decay", "state", "output"},
          .make = make_mixer<Kda>};
}

}  // namespace shellgame
