// DeltaNet, as flash-linear-attention has it: short convolutions, normed queries and keys, and the
// delta rule S <- S + beta k (v - S^T k)^T. With allow_neg_eigval beta reaches 2 and a step can
// reflect.
#include <ATen/Functions.h>

#include "shellgame/models/delta_parts.h"
#include "shellgame/models/mixers.h"
#include "shellgame/ops/activation.h"
#include "shellgame/ops/delta_net_core.h"
#include "shellgame/ops/delta_rule.h"
#include "shellgame/ops/engine.h"
#include "shellgame/ops/norm.h"

namespace shellgame {
namespace {

const std::vector<std::string> kTaps = {"q", "k", "v", "beta", "state", "output"};

class DeltaNet : public Mixer {
 public:
  DeltaNet(const Options& options, const MixerPlace& place, const Weights& weights)
      : heads_(options.size("num_heads")),
        key_width_(head_width(options, "expand_k", place.width)),
        value_width_(head_width(options, "expand_v", place.width)),
        conv_width_(options.flag("use_short_conv") ? options.size("conv_size") : 0),
        activation_(options.word("qk_activation", {"silu", "identity", "relu", "elu"})),
        norm_(options.word("qk_norm", {"l2", "sum"})),
        beta_range_(options.flag("allow_neg_eigval") ? 2 : 1),
        eps_(place.norm_eps) {
    const std::int64_t keys = heads_ * key_width_, values = heads_ * value_width_;
    q_ = weights.linear("q_proj", keys, place.width);
    k_ = weights.linear("k_proj", keys, place.width);
    v_ = weights.linear("v_proj", values, place.width);
    if (options.flag("use_beta")) b_ = weights.linear("b_proj", heads_, place.width);
    if (conv_width_ > 0) {
      q_conv_ = weights.convolution("q_conv1d", keys, conv_width_);
      k_conv_ = weights.convolution("k_conv1d", keys, conv_width_);
      v_conv_ = weights.convolution("v_conv1d", values, conv_width_);
    }
    if (options.flag("use_gate")) g_ = weights.linear("g_proj", values, place.width);
    o_norm_ = weights.constant("o_norm.weight", {value_width_}, 1);
    o_ = weights.linear("o_proj", place.width, values);
  }

  at::Tensor forward(const Stream& stream, PartState* state, Pass& pass) const override {
    std::vector<at::Tensor> weights = {q_, k_, v_};
    if (b_.defined()) weights.push_back(b_);
    if (g_.defined()) weights.push_back(g_);
    const at::Tensor together = stream.project_together(weights);
    if (kernels_fit({together, o_norm_}) && !pass.wants_any(kTaps)) {
      return stream.add_projected(fused(together, state), o_);
    }
    std::vector<std::int64_t> widths;
    for (const at::Tensor& weight : weights) widths.push_back(weight.size(0));
    const std::vector<at::Tensor> parts = together.split_with_sizes(widths, -1);
    const std::string after_conv = activation_ == "silu" ? "silu" : "identity";
    const at::Tensor q = prepared(convolved(parts[0], q_conv_, after_conv, "conv_q", state));
    const at::Tensor k = prepared(convolved(parts[1], k_conv_, after_conv, "conv_k", state));
    const at::Tensor v = split_heads(convolved(parts[2], v_conv_, "silu", "conv_v", state), heads_);
    at::Tensor beta =
        b_.defined() ? parts[3].sigmoid() : at::ones({q.size(0), q.size(1), heads_}, q.options());
    if (beta_range_ != 1) beta = beta * beta_range_;
    const DeltaInputs inputs{.q = pass.tap("q", q),
                             .k = pass.tap("k", k),
                             .v = pass.tap("v", v),
                             .beta = pass.tap("beta", beta),
                             .decay = {},
                             .key_decay = {},
                             .value_decay = {},
                             .start = remembered(state, "recurrent"),
                             .scale = 1 / std::sqrt(static_cast<double>(key_width_))};
    const Recurrence run = delta_rule(inputs, state_tap(pass));
    if (state != nullptr) (*state)["recurrent"] = run.state;
    const at::Tensor read = pass.tap("output", run.output);
    const at::Tensor o =
        g_.defined() ? gated_norm(read, o_norm_, eps_, split_heads(parts.back(), heads_), "silu")
                     : rms_norm(read, o_norm_, eps_);
    return stream.add_projected(o.flatten(2), o_);
  }

  MixerDeclaration declaration() const override {
    return {.heads = heads_,
            .remembers = delta_memory(heads_, heads_, conv_width_ > 0),
            .delta_steps = true};
  }

 private:
  // The same in one operation.
  at::Tensor fused(const at::Tensor& projections, PartState* state) const {
    const DeltaNetCore core{.heads = heads_,
                            .key_width = key_width_,
                            .value_width = value_width_,
                            .beta = b_.defined(),
                            .gate = g_.defined(),
                            .activation = activation_,
                            .norm = norm_,
                            .beta_range = beta_range_,
                            .eps = eps_,
                            .q_conv = q_conv_,
                            .k_conv = k_conv_,
                            .v_conv = v_conv_,
                            .norm_weight = o_norm_};
    if (state == nullptr) return delta_net_core(projections, core, nullptr);
    DeltaNetMemory memory{.recurrent = remembered(state, "recurrent"),
                          .conv_q = remembered(state, "conv_q"),
                          .conv_k = remembered(state, "conv_k"),
                          .conv_v = remembered(state, "conv_v")};
    const at::Tensor o = delta_net_core(projections, core, &memory);
    (*state)["recurrent"] = memory.recurrent;
    if (conv_width_ > 0) {
      (*state)["conv_q"] = memory.conv_q;
      (*state)["conv_k"] = memory.conv_k;
      (*state)["conv_v"] = memory.conv_v;
    }
    return o;
  }

  std::int64_t head_width(const Options& options, const std::string& key,
                          std::int64_t width) const {
    const auto all = static_cast<std::int64_t>(static_cast<double>(width) * options.number(key));
    if (all < heads_ || all % heads_ != 0) {
      options.refuse(fmt::format("hidden_size * {} = {} must be a multiple of num_heads = {}", key,
                                 all, heads_));
    }
    return all / heads_;
  }

  // Activation (but for SiLU, which the convolution applies) and norm of queries and keys.
  at::Tensor prepared(const at::Tensor& x) const {
    at::Tensor y = split_heads(x, heads_);
    if (activation_ != "silu") y = activate(activation_, y);
    return norm_ == "l2" ? l2_norm(y) : y / y.abs().sum(-1, true).clamp_min(1e-6);
  }

  std::int64_t heads_, key_width_, value_width_, conv_width_;
  std::string activation_, norm_;
  double beta_range_, eps_;
  at::Tensor q_, k_, v_, b_, g_, o_, q_conv_, k_conv_, v_conv_, o_norm_;
};

}  // namespace

MixerEntry delta_net_mixer() {
  return {.name = "delta_net",
          .defaults = {{"num_heads", 16},
                       {"expand_k", 1.0},
                       {"expand_v", 1.0},
                       {"use_gate", false},
                       {"use_short_conv", true},
                       {"conv_size", 4},
                       {"allow_neg_eigval", false},
                       {"use_beta", true},
                       {"qk_norm", "l2"},
                       {"qk_activation", "silu"}},
          .taps = kTaps,
          .make = make_mixer<DeltaNet>};
}

}  // namespace shellgame
