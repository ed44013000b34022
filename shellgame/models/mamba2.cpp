// Mamba2, as flash-linear-attention has it: h <- e^(-e^A_log dt) h + dt x B^T, y = h C + D x, with
// one convolution over x, B and C, and a gated norm.
#include <ATen/Functions.h>

#include <limits>

#include "shellgame/models/delta_parts.h"
#include "shellgame/models/mixers.h"
#include "shellgame/ops/activation.h"
#include "shellgame/ops/norm.h"

namespace shellgame {
namespace {

class Mamba2 : public Mixer {
 public:
  Mamba2(const Options& options, const MixerPlace& place, const Weights& weights)
      : inner_(
            static_cast<std::int64_t>(options.number("expand") * static_cast<double>(place.width))),
        head_width_(options.size("head_dim")),
        heads_(options.size_or("num_heads", inner_ / head_width_)),
        groups_(options.size("n_groups")),
        state_width_(options.size("state_size")),
        activation_(options.word("hidden_act")),
        norm_first_(options.flag("norm_before_gate")),
        eps_(place.norm_eps) {
    if (heads_ * head_width_ != inner_ || heads_ % groups_ != 0) {
      options.refuse(fmt::format(
          "num_heads * head_dim must be expand * hidden_size = {} and num_heads a multiple of "
          "n_groups, not {} * {} and {}",
          inner_, heads_, head_width_, groups_));
    }
    const Options::Json& limit = options.json().at("dt_limit");
    const Options ends({{"low", limit.at(0)}, {"high", limit.at(1)}}, options.where());
    least_step_ = ends.number("low");
    most_step_ = ends.number("high");
    const std::int64_t convolved_width = inner_ + 2 * groups_ * state_width_;
    in_ = weights.linear("in_proj", inner_ + convolved_width + heads_, place.width);
    if (options.flag("use_bias")) {
      in_bias_ = weights.constant("in_proj.bias", {inner_ + convolved_width + heads_}, 0);
    }
    conv_ = weights.convolution("conv1d", convolved_width, options.size("conv_kernel"));
    if (options.flag("use_conv_bias")) {
      conv_bias_ = weights.constant("conv1d.bias", {convolved_width}, 0);
    }
    const double least = options.number("dt_min"), most = options.number("dt_max");
    const double floor = options.number("dt_init_floor");
    step_bias_ = weights.drawn("dt_bias", {heads_}, [=](RandomStream& stream) {
      return draw_step_bias(stream, least, most, floor);
    });
    rate_ = make_rate(options, weights);
    skip_ = weights.constant("D", {options.flag("D_has_hdim") ? heads_ * head_width_ : heads_}, 1);
    if (options.flag("rmsnorm")) norm_ = weights.constant("norm.weight", {inner_}, 1);
    // Kaiming's uniform (a = sqrt 5), smaller with depth.
    const double bound = 1 / std::sqrt(static_cast<double>(inner_)) /
                         std::sqrt(options.flag("rescale_prenorm_residual") ? place.layers : 1.0);
    o_ = weights.drawn(
        "out_proj.weight", {place.width, inner_},
        [bound](RandomStream& stream) { return bound * (2 * draw_uniform(stream) - 1); }, true);
    if (options.flag("use_bias")) o_bias_ = weights.constant("out_proj.bias", {place.width}, 0);
  }

  at::Tensor forward(const Stream& stream, PartState* state, Pass& pass) const override {
    at::Tensor all = stream.project_together({in_});
    if (in_bias_.defined()) all = all + in_bias_;
    const std::int64_t keys = groups_ * state_width_;
    const std::vector<at::Tensor> parts =
        all.split_with_sizes({inner_, inner_ + 2 * keys, heads_}, -1);
    const at::Tensor mixed = convolved(parts[1], conv_, activation_, "conv", state, conv_bias_);
    const std::vector<at::Tensor> xbc = mixed.split_with_sizes({inner_, keys, keys}, -1);
    const at::Tensor x = pass.tap("v", split_heads(xbc[0], heads_));
    const at::Tensor k = pass.tap("k", split_heads(xbc[1], groups_));
    const at::Tensor q = pass.tap("q", split_heads(xbc[2], groups_));
    at::Tensor step = at::softplus(parts[2] + step_bias_);
    if (least_step_ > 0 || most_step_ < std::numeric_limits<double>::infinity()) {
      step = step.clamp(least_step_, most_step_);
    }
    step = pass.tap("step", step);
    const DeltaInputs inputs{.q = spread_heads(q, heads_),
                             .k = spread_heads(k, heads_),
                             .v = x * step.unsqueeze(-1),
                             .beta = {},
                             .decay = -rate_.exp() * step,
                             .key_decay = {},
                             .value_decay = {},
                             .start = remembered(state, "recurrent"),
                             .scale = 1};
    const Recurrence run = delta_rule(inputs, state_tap(pass));
    if (state != nullptr) (*state)["recurrent"] = run.state;
    const at::Tensor skip =
        skip_.numel() == heads_ ? skip_.unsqueeze(-1) : skip_.view({heads_, -1});
    const at::Tensor y = pass.tap("output", run.output + x * skip).flatten(2);
    return stream.add_projected(gated(y, parts[0]), o_, o_bias_);
  }

  MixerDeclaration declaration() const override {
    using enum Remembered::Kind;
    return {.heads = heads_,
            .remembers = {{.name = "recurrent", .kind = kState, .heads = heads_},
                          {.name = "conv", .kind = kShared}}};
  }

 private:
  static at::Tensor make_rate(const Options& options, const Weights& weights);

  // The norm is taken over each group of channels; its gate is always SiLU.
  at::Tensor gated(const at::Tensor& y, const at::Tensor& gate) const {
    if (!norm_.defined()) return y * activate(activation_, gate);
    const auto normed = [this](const at::Tensor& x) {
      return rms_norm(split_heads(x, groups_), {}, eps_).flatten(2) * norm_;
    };
    return norm_first_ ? normed(y) * at::silu(gate) : normed(y * at::silu(gate));
  }

  std::int64_t inner_, head_width_, heads_, groups_, state_width_;
  std::string activation_;
  bool norm_first_;
  double eps_, least_step_ = 0, most_step_ = 0;
  at::Tensor in_, in_bias_, conv_, conv_bias_, step_bias_, rate_, skip_, norm_, o_, o_bias_;
};

// A_log = log U(range).
at::Tensor Mamba2::make_rate(const Options& options, const Weights& weights) {
  const Options::Json& range = options.json().at("A_init_range");
  const double from = range.at(0).get<double>(), to = range.at(1).get<double>();
  const std::int64_t heads = options.size_or(
      "num_heads",
      static_cast<std::int64_t>(options.number("expand") * options.number("hidden_size")) /
          options.size("head_dim"));
  return weights.drawn("A_log", {heads}, [=](RandomStream& stream) {
    return std::log(from + (to - from) * draw_uniform(stream));
  });
}

}  // namespace

MixerEntry mamba2_mixer() {
  using Json = Options::Json;
  return {.name = "mamba2",
          .defaults = {{"hidden_size", 2048},
                       {"head_dim", 64},
                       {"num_heads", nullptr},
                       {"state_size", 128},
                       {"expand", 2},
                       {"conv_kernel", 4},
                       {"n_groups", 1},
                       {"hidden_act", "silu"},
                       {"use_bias", false},
                       {"use_conv_bias", true},
                       {"A_init_range", Json::array({1, 16})},
                       {"D_has_hdim", false},
                       {"dt_min", 0.001},
                       {"dt_max", 0.1},
                       {"dt_init_floor", 1e-4},
                       {"dt_limit", Json::array({0.0, Json{{"__float__", "Infinity"}}})},
                       {"rescale_prenorm_residual", true},
                       {"rmsnorm", true},
                       {"norm_before_gate", false}},
          .taps = {"q", "k", "v", "step", "state", "output"},
          .make = make_mixer<Mamba2>};
}

}  // namespace shellgame
