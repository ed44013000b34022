// The plain non-linear RNN as a mixer, h_t = tanh(W x_t + R h_{t-1} + b), with an output
// projection: of the non-linear cells the one without gates. Weights start as those of
// torch.nn.RNN, whose two biases are one here.
#include <ATen/Functions.h>

#include "shellgame/models/delta_parts.h"
#include "shellgame/models/mixers.h"
#include "shellgame/ops/cells.h"

namespace shellgame {
namespace {

class TanhRnn : public Mixer {
 public:
  TanhRnn(const Options& options, const MixerPlace& place, const Weights& weights)
      : width_(options.size_or("cell_size", place.width)),
        in_(drawn(weights, "weight_ih", {width_, place.width}, true)),
        recurrent_(drawn(weights, "weight_hh", {width_, width_}, true)),
        bias_(drawn(weights, "bias", {width_}, false)),
        o_(weights.linear("o_proj", place.width, width_)) {}

  at::Tensor forward(const Stream& stream, PartState* state, Pass& pass) const override {
    const at::Tensor inputs = stream.project_together({in_}) + bias_;
    std::vector<at::Tensor> states;
    if (const at::Tensor h = remembered(state, "h"); h.defined()) states = {h};
    CellTap tap;
    if (pass.wants("state"))
      tap = [&pass](std::int64_t t, const at::Tensor& h) { return pass.tap("state", h, t); };
    const CellRun run = tanh_rnn(pass.tap("gates", inputs), recurrent_, states, tap);
    if (state != nullptr) (*state)["h"] = run.states[0];
    return stream.add_projected(pass.tap("output", run.output), o_);
  }

  MixerDeclaration declaration() const override { return {.remembers = {{.name = "h"}}}; }

 private:
  // Uniform within 1/sqrt(width), as Torch starts its cells.
  at::Tensor drawn(const Weights& weights, const std::string& name, std::vector<std::int64_t> shape,
                   bool decays) const {
    const double bound = 1 / std::sqrt(static_cast<double>(width_));
    return weights.drawn(
        name, std::move(shape),
        [bound](RandomStream& stream) { return bound * (2 * draw_uniform(stream) - 1); }, decays);
  }

  std::int64_t width_;
  at::Tensor in_, recurrent_, bias_, o_;
};

}  // namespace

MixerEntry tanh_rnn_mixer() {
  return {.name = "tanh_rnn",
          .defaults = {{"cell_size", nullptr}},
          .taps = {"gates", "state", "output"},
          .make = make_mixer<TanhRnn>};
}

}  // namespace shellgame
