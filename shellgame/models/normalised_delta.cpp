// The paper's future-work hybrid: DeltaNet's recurrence, and after every r tokens a non-linear
// renormalisation of the state. Between renormalisations it is linear, so the kernels serve it.
#include <ATen/Functions.h>

#include <algorithm>

#include "shellgame/models/delta_parts.h"
#include "shellgame/models/mixers.h"
#include "shellgame/ops/activation.h"
#include "shellgame/ops/norm.h"

namespace shellgame {
namespace {

class NormalisedDelta : public Mixer {
 public:
  NormalisedDelta(const Options& options, const MixerPlace& place, const Weights& weights)
      : heads_(options.size("num_heads")),
        width_(options.size_or("head_dim", place.width / heads_)),
        period_(options.size("renormalise_every")),
        kind_(options.word("renormalisation", {"frobenius", "columns", "rows"})),
        activation_(options.word("qk_activation", {"silu", "identity", "relu", "elu"})),
        beta_range_(options.flag("allow_neg_eigval") ? 2 : 1),
        eps_(place.norm_eps) {
    const std::int64_t all = heads_ * width_;
    q_ = weights.linear("q_proj", all, place.width);
    k_ = weights.linear("k_proj", all, place.width);
    v_ = weights.linear("v_proj", all, place.width);
    b_ = weights.linear("b_proj", heads_, place.width);
    if (options.flag("use_short_conv")) {
      const std::int64_t width = options.size("conv_size");
      q_conv_ = weights.convolution("q_conv1d", all, width);
      k_conv_ = weights.convolution("k_conv1d", all, width);
      v_conv_ = weights.convolution("v_conv1d", all, width);
    }
    o_norm_ = weights.constant("o_norm.weight", {width_}, 1);
    o_ = weights.linear("o_proj", place.width, all);
  }

  at::Tensor forward(const Stream& stream, PartState* state, Pass& pass) const override {
    const std::vector<at::Tensor> parts = stream.project({q_, k_, v_, b_});
    const std::string after_conv = activation_ == "silu" ? "silu" : "identity";
    const auto prepared = [&](const at::Tensor& x, const at::Tensor& conv,
                              const std::string& name) {
      at::Tensor y = split_heads(convolved(x, conv, after_conv, name, state), heads_);
      return l2_norm(activation_ == "silu" ? y : activate(activation_, y));
    };
    const at::Tensor q = pass.tap("q", prepared(parts[0], q_conv_, "conv_q"));
    const at::Tensor k = pass.tap("k", prepared(parts[1], k_conv_, "conv_k"));
    const at::Tensor v =
        pass.tap("v", split_heads(convolved(parts[2], v_conv_, "silu", "conv_v", state), heads_));
    const at::Tensor beta = pass.tap("beta", parts[3].sigmoid() * beta_range_);

    at::Tensor memory = remembered(state, "recurrent");
    const at::Tensor seen = remembered(state, "position");
    std::int64_t position = seen.defined() ? seen.item<std::int64_t>() : 0;
    const std::int64_t time = q.size(1);
    std::vector<at::Tensor> outputs;
    for (std::int64_t from = 0; from < time;) {
      const std::int64_t size = std::min(time - from, period_ - position % period_);
      const auto part = [&](const at::Tensor& x) { return x.narrow(1, from, size); };
      const DeltaInputs inputs{.q = part(q),
                               .k = part(k),
                               .v = part(v),
                               .beta = part(beta),
                               .decay = {},
                               .key_decay = {},
                               .value_decay = {},
                               .start = memory,
                               .scale = 1 / std::sqrt(static_cast<double>(width_))};
      StateTap tap;
      if (pass.wants("state")) {
        tap = [&pass, from](std::int64_t t, const at::Tensor& s) {
          return pass.tap("state", s, from + t);
        };
      }
      const Recurrence run = delta_rule(inputs, tap);
      outputs.push_back(run.output);
      memory = run.state;
      from += size;
      position += size;
      if (position % period_ == 0) memory = renormalised(memory);
    }
    if (state != nullptr) {
      (*state)["recurrent"] = memory;
      (*state)["position"] = at::full({}, position, at::kLong);
    }
    const at::Tensor o = rms_norm(pass.tap("output", at::cat(outputs, 1)), o_norm_, eps_);
    return stream.add_projected(o.flatten(2), o_);
  }

  MixerDeclaration declaration() const override {
    MixerDeclaration own{.heads = heads_,
                         .remembers = delta_memory(heads_, heads_, q_conv_.defined()),
                         .delta_steps = true};
    own.remembers.push_back({.name = "position", .kind = Remembered::Kind::kPosition});
    return own;
  }

 private:
  // S [B, H, K, V] to unit mean square: of the whole matrix, of each column, of each row.
  at::Tensor renormalised(const at::Tensor& s) const {
    const at::Tensor squares = s.square();
    const at::Tensor mean = kind_ == "frobenius" ? squares.mean({-2, -1}, true)
                            : kind_ == "columns" ? squares.mean(-2, true)
                                                 : squares.mean(-1, true);
    return s * (mean + eps_).rsqrt();
  }

  std::int64_t heads_, width_, period_;
  std::string kind_, activation_;
  double beta_range_, eps_;
  at::Tensor q_, k_, v_, b_, q_conv_, k_conv_, v_conv_, o_norm_, o_;
};

}  // namespace

MixerEntry normalised_delta_mixer() {
  return {.name = "normalised_delta",
          .defaults = {{"num_heads", 4},
                       {"head_dim", nullptr},
                       {"renormalise_every", 16},
                       {"renormalisation", "frobenius"},
                       {"qk_activation", "silu"},
                       {"allow_neg_eigval", true},
                       {"use_short_conv", true},
                       {"conv_size", 4}},
          .taps = {"q", "k", "v", "beta", "state", "output"},
          .make = make_mixer<NormalisedDelta>};
}

}  // namespace shellgame
