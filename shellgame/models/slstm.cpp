// xLSTM's sLSTM: a scalar memory for each channel with exponential gates, kept finite by a
// stabiliser, and a recurrent matrix for each head. Around it as in xLSTM's layer: a short
// convolution before the input and forget gates, a norm of each head after.
#include <ATen/Functions.h>

#include "shellgame/models/delta_parts.h"
#include "shellgame/models/mixers.h"
#include "shellgame/ops/cells.h"
#include "shellgame/ops/norm.h"

namespace shellgame {
namespace {

class Slstm : public Mixer {
 public:
  Slstm(const Options& options, const MixerPlace& place, const Weights& weights)
      : heads_(options.size("num_heads")), width_(place.width / heads_), eps_(place.norm_eps) {
    if (place.width % heads_ != 0) {
      options.refuse(fmt::format("hidden_size = {} must be a multiple of num_heads = {}",
                                 place.width, heads_));
    }
    if (options.flag("use_short_conv")) {
      conv_ = weights.convolution("conv1d", place.width, options.size("conv_size"));
      conv_bias_ = weights.constant("conv1d.bias", {place.width}, 0);
    }
    i_ = weights.linear("i_proj", place.width, place.width);
    f_ = weights.linear("f_proj", place.width, place.width);
    z_ = weights.linear("z_proj", place.width, place.width);
    o_gate_ = weights.linear("o_gate_proj", place.width, place.width);
    recurrent_ = weights.drawn(
        "recurrent", {heads_, 4 * width_, width_},
        [&](RandomStream& stream) { return weights.range() * draw_normal(stream); }, true);
    bias_ = forget_bias(options, place, weights);
    norm_ = weights.constant("g_norm.weight", {place.width}, 1);
    o_ = weights.linear("o_proj", place.width, place.width);
  }

  at::Tensor forward(const Stream& stream, PartState* state, Pass& pass) const override {
    const at::Tensor& x = stream.normed();
    const at::Tensor near =
        conv_.defined() ? convolved(x, conv_, "silu", "conv", state, conv_bias_) : x;
    // [B, T, 4, H, X]
    const at::Tensor gates = at::stack({at::linear(near, i_), at::linear(near, f_),
                                        at::linear(x, z_), at::linear(x, o_gate_)},
                                       2)
                                 .unflatten(-1, {heads_, width_});
    std::vector<at::Tensor> states;
    if (const at::Tensor h = remembered(state, "h"); h.defined()) {
      states = {h, remembered(state, "c"), remembered(state, "n"), remembered(state, "m")};
    }
    CellTap tap;
    if (pass.wants("state")) {
      tap = [&pass](std::int64_t t, const at::Tensor& c) { return pass.tap("state", c, t); };
    }
    const CellRun run = slstm(pass.tap("gates", gates), recurrent_, bias_, states, tap);
    if (state != nullptr) {
      const char* names[] = {"h", "c", "n", "m"};
      for (std::size_t i = 0; i < 4; ++i) (*state)[names[i]] = run.states[i];
    }
    const at::Tensor heads = split_heads(pass.tap("output", run.output), heads_);
    return stream.add_projected(layer_norm(heads, {}, {}, eps_).flatten(2) * norm_, o_);
  }

  MixerDeclaration declaration() const override {
    MixerDeclaration own{.heads = heads_};
    for (const char* name : {"h", "c", "n", "m"})
      own.remembers.push_back({.name = name, .heads = heads_});
    if (conv_.defined())
      own.remembers.push_back({.name = "conv", .kind = Remembered::Kind::kShared});
    return own;
  }

 private:
  // Forget gates start open, from 3 to 6 over a head's channels; the others at zero.
  at::Tensor forget_bias(const Options&, const MixerPlace&, const Weights& weights) const {
    std::int64_t place = 0;
    const std::int64_t all = heads_ * width_;
    return weights.drawn("bias", {4, heads_, width_}, [&, this](RandomStream&) {
      const std::int64_t gate = place / all, channel = place % width_;
      ++place;
      if (gate != 1) return 0.0;
      return 3 + 3 * static_cast<double>(channel) /
                     static_cast<double>(std::max<std::int64_t>(1, width_ - 1));
    });
  }

  std::int64_t heads_, width_;
  double eps_;
  at::Tensor conv_, conv_bias_, i_, f_, z_, o_gate_, recurrent_, bias_, norm_, o_;
};

}  // namespace

MixerEntry slstm_mixer() {
  return {.name = "slstm",
          .defaults = {{"num_heads", 4}, {"use_short_conv", true}, {"conv_size", 4}},
          .taps = {"gates", "state", "output"},
          .make = make_mixer<Slstm>};
}

}  // namespace shellgame
