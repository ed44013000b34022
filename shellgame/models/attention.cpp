// Causal softmax attention with rotary positions: flash-linear-attention's Transformer and Qwen3's
// block. With a window what is remembered stays of one size.
#include "shellgame/ops/attention.h"

#include <ATen/Functions.h>

#include "shellgame/models/delta_parts.h"
#include "shellgame/models/mixers.h"
#include "shellgame/ops/norm.h"

namespace shellgame {
namespace {

class Attention : public Mixer {
 public:
  Attention(const Options& options, const MixerPlace& place, const Weights& weights)
      : heads_(options.size("num_heads")),
        groups_(options.size_or("num_kv_heads", heads_)),
        width_(options.size_or("head_dim", place.width / heads_)),
        window_(options.has("window_size") ? options.size("window_size") : 0),
        theta_(options.number_or("rope_theta", 10000)),
        norm_eps_(options.number_or("qk_norm_eps", 1e-5)) {
    if (!options.has("head_dim") && place.width % heads_ != 0) {
      options.refuse(fmt::format("hidden_size = {} must be a multiple of num_heads = {}",
                                 place.width, heads_));
    }
    if (heads_ % groups_ != 0) {
      options.refuse(
          fmt::format("num_heads = {} must be a multiple of num_kv_heads = {}", heads_, groups_));
    }
    if (width_ % 2 != 0) {
      options.refuse(fmt::format("the width of a head must be even, not {}", width_));
    }
    const auto projection = [&](const std::string& name, std::int64_t heads, at::Tensor& bias) {
      at::Tensor weight = weights.linear(name, heads * width_, place.width);
      if (options.flag("qkv_bias")) bias = weights.constant(name + ".bias", {heads * width_}, 0);
      return weight;
    };
    q_ = projection("q_proj", heads_, q_bias_);
    k_ = projection("k_proj", groups_, k_bias_);
    v_ = projection("v_proj", groups_, v_bias_);
    if (options.flag("qk_norm")) {
      q_norm_ = weights.constant("q_norm.weight", {width_}, 1);
      k_norm_ = weights.constant("k_norm.weight", {width_}, 1);
    }
    o_ = weights.linear("o_proj", place.width, heads_ * width_);
    if (options.flag_or("o_bias", false)) {
      o_bias_ = weights.constant("o_proj.bias", {place.width}, 0);
    }
  }

  at::Tensor forward(const Stream& stream, PartState* state, Pass& pass) const override {
    const std::vector<at::Tensor> parts = stream.project({q_, k_, v_});
    const auto split = [](const at::Tensor& x, const at::Tensor& bias, std::int64_t heads) {
      return split_heads(bias.defined() ? x + bias : x, heads);
    };
    at::Tensor q = split(parts[0], q_bias_, heads_), k = split(parts[1], k_bias_, groups_);
    at::Tensor v = pass.tap("v", split(parts[2], v_bias_, groups_));
    if (q_norm_.defined()) {
      q = rms_norm(q, q_norm_, norm_eps_);
      k = rms_norm(k, k_norm_, norm_eps_);
    }
    const at::Tensor seen = remembered(state, "position");
    const std::int64_t position = seen.defined() ? seen.item<std::int64_t>() : 0;
    q = pass.tap("q", rotate(q, theta_, position));
    k = pass.tap("k", rotate(k, theta_, position));
    if (const at::Tensor past = remembered(state, "k"); past.defined()) {
      k = at::cat({past, k}, 1);
      v = at::cat({remembered(state, "v"), v}, 1);
    }
    const double scale = 1 / std::sqrt(static_cast<double>(width_));
    const at::Tensor o = pass.tap("output", attention(q, k, v, scale, window_));
    if (state != nullptr) {
      (*state)["k"] = kept(k);
      (*state)["v"] = kept(v);
      (*state)["position"] = at::full({}, position + q.size(1), at::kLong);
    }
    return stream.add_projected(o.flatten(2), o_, o_bias_);
  }

  MixerDeclaration declaration() const override {
    using enum Remembered::Kind;
    const std::int64_t most = window_ == 0 ? 0 : window_ - 1;
    return {.heads = heads_,
            .remembers = {{.name = "k", .kind = kTokens, .most = most},
                          {.name = "v", .kind = kTokens, .most = most},
                          {.name = "position", .kind = kPosition}}};
  }

 private:
  // What later tokens can see: with a window, always window - 1 places. Those before the first
  // token never come into sight, since attention() counts them as past.
  at::Tensor kept(const at::Tensor& x) const {
    if (window_ == 0 || x.size(1) <= window_ - 1) return x;
    return x.narrow(1, x.size(1) - (window_ - 1), window_ - 1);
  }

  std::int64_t heads_, groups_, width_, window_;
  double theta_, norm_eps_;
  at::Tensor q_, k_, v_, o_, q_bias_, k_bias_, v_bias_, o_bias_, q_norm_, k_norm_;
};

}  // namespace

MixerEntry attention_mixer() {
  return {.name = "attention",
          .defaults = {{"num_heads", 32},
                       {"num_kv_heads", nullptr},
                       {"qkv_bias", false},
                       {"qk_norm", false},
                       {"window_size", nullptr},
                       {"rope_theta", 10000.0}},
          .taps = {"q", "k", "v", "output"},
          .make = make_mixer<Attention>};
}

}  // namespace shellgame
