// DeltaProduct: n delta-rule steps a token, a product of n generalised Householder matrices; with a
// forget gate it is Gated DeltaProduct. The recurrence runs on T * n steps: the decay acts at the
// first of a token, the query reads after the last.
#include <ATen/Functions.h>

#include "shellgame/models/delta_parts.h"
#include "shellgame/models/mixers.h"
#include "shellgame/ops/norm.h"

namespace shellgame {
namespace {

class DeltaProduct : public Mixer {
 public:
  DeltaProduct(const Options& options, const MixerPlace& place, const Weights& weights)
      : heads_(options.size("num_heads")),
        key_width_(options.size("head_dim")),
        value_width_(expanded_width(options)),
        steps_(options.size("num_householder")),
        beta_range_(options.flag("allow_neg_eigval") ? 2 : 1),
        eps_(place.norm_eps),
        forgets_(options.flag("use_forget_gate")) {
    const std::int64_t keys = heads_ * key_width_, values = heads_ * value_width_;
    q_ = weights.linear("q_proj", keys, place.width);
    k_ = weights.linear("k_proj", steps_ * keys, place.width);
    v_ = weights.linear("v_proj", steps_ * values, place.width);
    b_ = weights.linear("b_proj", steps_ * heads_, place.width);
    if (forgets_) {
      a_ = weights.linear("a_proj", heads_, place.width);
      decay_ = make_head_decay(weights, heads_, heads_, 0, 16);
    }
    if (options.flag("use_short_conv")) {
      const std::int64_t width = options.size("conv_size");
      q_conv_ = weights.convolution("q_conv1d", keys, width);
      k_conv_ = weights.convolution("k_conv1d", steps_ * keys, width);
      v_conv_ = weights.convolution("v_conv1d", steps_ * values, width);
    }
    if (options.flag("use_output_gate")) g_ = weights.linear("g_proj", values, place.width);
    o_norm_ = weights.constant("o_norm.weight", {value_width_}, 1);
    o_ = weights.linear("o_proj", place.width, values);
  }

  at::Tensor forward(const Stream& stream, PartState* state, Pass& pass) const override {
    std::vector<at::Tensor> weights = {q_, k_, v_, b_};
    if (forgets_) weights.push_back(a_);
    if (g_.defined()) weights.push_back(g_);
    const std::vector<at::Tensor> parts = stream.project(weights);
    const at::Tensor q =
        l2_norm(split_heads(convolved(parts[0], q_conv_, "silu", "conv_q", state), heads_));
    const at::Tensor k =
        l2_norm(each_step(convolved(parts[1], k_conv_, "silu", "conv_k", state), key_width_));
    const at::Tensor v =
        each_step(convolved(parts[2], v_conv_, "silu", "conv_v", state), value_width_);
    at::Tensor beta = parts[3].sigmoid();
    if (beta_range_ != 1) beta = beta * beta_range_;
    beta = each_step(beta, 1).squeeze(-1);
    // Taps see [B, T * n, H, ...] for what has n steps a token.
    DeltaInputs inputs{.q = placed(pass.tap("q", q), steps_ - 1),
                       .k = pass.tap("k", k),
                       .v = pass.tap("v", v),
                       .beta = pass.tap("beta", beta),
                       .decay = {},
                       .key_decay = {},
                       .value_decay = {},
                       .start = remembered(state, "recurrent"),
                       .scale = 1 / std::sqrt(static_cast<double>(key_width_))};
    if (forgets_) {
      const at::Tensor decay = pass.tap("decay", decay_.log_decay(parts[4]));
      inputs.decay = placed(decay.unsqueeze(-1), 0).squeeze(-1);
    }
    const Recurrence run = delta_rule(inputs, state_tap(pass));
    if (state != nullptr) (*state)["recurrent"] = run.state;
    const at::Tensor last =
        run.output.unflatten(1, {run.output.size(1) / steps_, steps_}).select(2, steps_ - 1);
    const at::Tensor read = pass.tap("output", last);
    const at::Tensor o =
        g_.defined() ? gated_norm(read, o_norm_, eps_, split_heads(parts.back(), heads_), "silu")
                     : rms_norm(read, o_norm_, eps_);
    return stream.add_projected(o.flatten(2), o_);
  }

  MixerDeclaration declaration() const override {
    return {.heads = heads_,
            .remembers = delta_memory(heads_, heads_, q_conv_.defined(), steps_),
            .delta_steps = true,
            .decay_tap = forgets_ ? "decay" : ""};
  }

 private:
  // [B, T, n * H * X] as [B, T * n, H, X]
  at::Tensor each_step(const at::Tensor& x, std::int64_t width) const {
    return x.reshape({x.size(0), x.size(1) * steps_, heads_, width});
  }

  // x [B, T, H, X] at one step of each token, zeros at the others: [B, T * n, H, X].
  at::Tensor placed(const at::Tensor& x, std::int64_t at_step) const {
    if (steps_ == 1) return x;
    const at::Tensor zero = at::zeros_like(x);
    std::vector<at::Tensor> steps(static_cast<std::size_t>(steps_), zero);
    steps[static_cast<std::size_t>(at_step)] = x;
    return at::stack(steps, 2).flatten(1, 2);
  }

  std::int64_t heads_, key_width_, value_width_, steps_;
  double beta_range_, eps_;
  bool forgets_;
  HeadDecay decay_;
  at::Tensor q_, k_, v_, a_, b_, g_, o_, q_conv_, k_conv_, v_conv_, o_norm_;
};

}  // namespace

MixerEntry delta_product_mixer() {
  return {.name = "delta_product",
          .defaults = {{"num_heads", 6},
                       {"head_dim", 256},
                       {"expand_v", 2.0},
                       {"num_householder", 1},
                       {"use_forget_gate", false},
                       {"use_output_gate", true},
                       {"use_short_conv", true},
                       {"conv_size", 4},
                       {"allow_neg_eigval", false}},
          .taps = {"q", "k", "v", "beta", "state", "output"},
          .make = make_mixer<DeltaProduct>};
}

}  // namespace shellgame
