// RWKV-7, as flash-linear-attention has it: token shift, low-rank gates, values of the first layer,
// and the recurrence S <- Diag(e^w) S - (kk a)(kk^T S) + k v^T.
#include <ATen/Functions.h>

#include "shellgame/models/delta_parts.h"
#include "shellgame/models/mixers.h"
#include "shellgame/ops/norm.h"

namespace shellgame {
namespace {

// in, an activation, out (+ bias).
struct LowRank {
  at::Tensor in, out, bias;

  at::Tensor operator()(const at::Tensor& x, at::Tensor (*activation)(const at::Tensor&)) const {
    const at::Tensor inner = at::linear(x, in);
    return at::linear(activation == nullptr ? inner : activation(inner), out, bias);
  }
};

LowRank make_low_rank(const Weights& weights, const std::string& name, std::int64_t inputs,
                      std::int64_t rank, std::int64_t outputs,
                      const std::function<double(double)>& bias = {}) {
  const Weights own = weights.inside(name + ".lora");
  LowRank made{
      .in = own.linear("0", rank, inputs), .out = own.linear("2", outputs, rank), .bias = {}};
  if (bias) {
    std::int64_t i = 0;
    made.bias = own.drawn("2.bias", {outputs}, [&](RandomStream&) {
      return bias(static_cast<double>(i++) / static_cast<double>(outputs));
    });
  }
  return made;
}

at::Tensor tanh_of(const at::Tensor& x) { return x.tanh(); }
at::Tensor sigmoid_of(const at::Tensor& x) { return x.sigmoid(); }

class Rwkv7 : public Mixer {
 public:
  Rwkv7(const Options& options, const MixerPlace& place, const Weights& weights)
      : layer_(place.layer),
        key_width_(options.size("head_dim")),
        heads_(options.size_or("num_heads", place.width / key_width_)),
        values_(value_width_of(options, place)),
        fused_norm_(options.flag("fuse_norm")),
        eps_(place.norm_eps * static_cast<double>(key_width_)) {
    const std::int64_t width = place.width;
    if (heads_ * key_width_ != width || values_ % heads_ != 0) {
      options.refuse(fmt::format(
          "num_heads * head_dim must be hidden_size = {} and value_dim a multiple of num_heads, "
          "not {} * {} and {}",
          width, heads_, key_width_, values_));
    }
    // Initialisation as RWKV's authors choose it: by channel i and by depth.
    const double deep = place.layers > 1 ? static_cast<double>(layer_) / (place.layers - 1) : 0;
    const double early = 1 - static_cast<double>(layer_) / place.layers;
    const auto by_channel = [&](const std::string& name, std::vector<std::int64_t> shape,
                                const std::function<double(double)>& value) {
      std::int64_t i = 0;
      const std::int64_t all = shape.back();
      return weights.drawn(name, std::move(shape), [&](RandomStream&) {
        return value(static_cast<double>(i++) / static_cast<double>(all));
      });
    };
    for (const auto& [name, power] : {std::pair{"x_r", 0.2},
                                      {"x_w", 0.9},
                                      {"x_k", 0.7},
                                      {"x_v", 0.7},
                                      {"x_a", 0.9},
                                      {"x_g", 0.2}}) {
      shifts_.push_back(by_channel(name, {1, 1, width}, [early, power = power](double c) {
        return 1 - std::pow(c, power * early);
      }));
    }
    k_k_ = by_channel("k_k", {width}, [](double c) { return 0.71 - 0.1 * (c - 0.5); });
    k_a_ = weights.constant("k_a", {width}, 1.02);
    r_k_ = weights.constant("r_k", {heads_, key_width_}, -0.04);
    r_ = weights.linear("r_proj", width, width);
    k_ = weights.linear("k_proj", width, width);
    v_ = weights.linear("v_proj", values_, width);
    o_ = weights.linear("o_proj", width, values_);
    w_ =
        make_low_rank(weights, "w_lora", width, options.size("decay_low_rank_dim"), width,
                      [deep](double c) { return -5.5 + 6 * std::pow(c, 1 + std::pow(deep, 0.3)); });
    if (layer_ > 0) {
      first_ = make_low_rank(weights, "v_lora", width, options.size("v_low_rank_dim"), values_,
                             [](double c) { return 0.73 - 0.4 * (c - 0.5); });
    }
    a_ = make_low_rank(weights, "a_lora", width, options.size("a_low_rank_dim"), width,
                       [](double c) { return -0.19 + 0.4 * (c - 0.5); });
    g_ = make_low_rank(weights, "g_lora", width, options.size("gate_low_rank_dim"), values_);
    norm_weight_ =
        weights.constant("g_norm.weight", {values_}, std::pow((1.0 + layer_) / place.layers, 0.7));
    norm_bias_ = weights.constant("g_norm.bias", {values_}, 0);
  }

  at::Tensor forward(const Stream& stream, PartState* state, Pass& pass) const override {
    const at::Tensor& x = stream.normed();
    const at::Tensor change = token_shift(x, state);
    const auto shifted = [&](std::size_t i) { return x + change * shifts_[i]; };

    const at::Tensor r = at::linear(shifted(0), r_);
    const at::Tensor decay = -std::exp(-0.5) * w_(shifted(1), tanh_of).sigmoid();
    at::Tensor k = at::linear(shifted(2), k_);
    const at::Tensor mixed = shifted(3);
    at::Tensor v = at::linear(mixed, v_);
    if (layer_ == 0) {
      pass.first_values = v;
    } else if (pass.first_values.defined()) {
      v = v + (pass.first_values - v) * first_(mixed, nullptr).sigmoid();
    }
    const at::Tensor a = a_(shifted(4), nullptr).sigmoid();
    const at::Tensor gate = g_(shifted(5), sigmoid_of);
    const at::Tensor unit = unit_keys(split_heads(k * k_k_, heads_));
    k = k * (1 + (a - 1) * k_a_);

    const at::Tensor q = pass.tap("q", split_heads(r, heads_));
    const at::Tensor keys = pass.tap("k", split_heads(k, heads_));
    const at::Tensor values = pass.tap("v", split_heads(v, heads_));
    const at::Tensor rate = pass.tap("beta", split_heads(a, heads_));
    const LowRankInputs inputs{.q = q,
                               .decay = pass.tap("decay", split_heads(decay, heads_)),
                               .k = keys,
                               .a = -unit * rate,
                               .b = unit,
                               .v = values,
                               .start = remembered(state, "recurrent"),
                               .scale = 1};
    const Recurrence run = low_rank_rule(inputs, state_tap(pass));
    if (state != nullptr) (*state)["recurrent"] = run.state;
    at::Tensor o = layer_norm(pass.tap("output", run.output), {}, {}, eps_).flatten(2);
    o = o * norm_weight_ + norm_bias_;
    o = o + ((q * keys * r_k_).sum(-1, true) * values).flatten(2);
    return stream.add_projected(o * gate, o_);
  }

  MixerDeclaration declaration() const override {
    using enum Remembered::Kind;
    return {.heads = heads_,
            .remembers = {{.name = "recurrent", .kind = kState, .heads = heads_},
                          {.name = "last", .kind = kShared}}};
  }

 private:
  // fla's two forms of the norm differ in what keeps it from zero.
  at::Tensor unit_keys(const at::Tensor& x) const {
    return fused_norm_ ? l2_norm(x) : x / x.norm(2, -1, true).clamp_min(1e-12);
  }

  static std::int64_t value_width_of(const Options& options, const MixerPlace& place) {
    if (!options.has("value_dim")) return place.width;
    const Options::Json& value = options.json().at("value_dim");
    if (value.is_number_integer()) return options.size("value_dim");
    const std::vector<std::int64_t> list = options.integers("value_dim");
    if (static_cast<int>(list.size()) != place.layers) {
      options.refuse("'value_dim' must have an entry for each layer");
    }
    return list[static_cast<std::size_t>(place.layer)];
  }

  int layer_;
  std::int64_t key_width_, heads_, values_;
  bool fused_norm_;
  double eps_;
  std::vector<at::Tensor> shifts_;
  at::Tensor k_k_, k_a_, r_k_, r_, k_, v_, o_, norm_weight_, norm_bias_;
  LowRank w_, first_, a_, g_;
};

}  // namespace

MixerEntry rwkv7_mixer() {
  return {.name = "rwkv7",
          .defaults = {{"fuse_norm", true},
                       {"head_dim", 64},
                       {"num_heads", nullptr},
                       {"decay_low_rank_dim", 64},
                       {"gate_low_rank_dim", 128},
                       {"a_low_rank_dim", 64},
                       {"v_low_rank_dim", 16},
                       {"value_dim", nullptr}},
          .taps = {"q", "k", "v", "beta", "decay", "state", "output"},
          .make = make_mixer<Rwkv7>};
}

}  // namespace shellgame
