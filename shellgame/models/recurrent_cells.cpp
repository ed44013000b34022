// LSTM and GRU as mixers: the non-linear side of the comparison. Gates as in torch.nn.LSTM and
// torch.nn.GRU, then an output projection.
#include <ATen/Functions.h>

#include "shellgame/models/delta_parts.h"
#include "shellgame/models/mixers.h"
#include "shellgame/ops/cells.h"

namespace shellgame {
namespace {

std::int64_t cell_width(const Options& options, const MixerPlace& place) {
  return options.size_or("cell_size", place.width);
}

CellTap cell_tap(const Pass& pass) {
  if (!pass.wants("state")) return {};
  return [&pass](std::int64_t t, const at::Tensor& state) { return pass.tap("state", state, t); };
}

// Uniform within 1/sqrt(width), as Torch starts its cells.
at::Tensor cell_weight(const Weights& weights, const std::string& name,
                       std::vector<std::int64_t> shape, std::int64_t width, bool decays) {
  const double bound = 1 / std::sqrt(static_cast<double>(width));
  return weights.drawn(
      name, std::move(shape),
      [bound](RandomStream& stream) { return bound * (2 * draw_uniform(stream) - 1); }, decays);
}

// The input bias as `cell_weight` draws it, and `keep` more for the gate that keeps the state: the
// forget gate of an LSTM and the update gate of a GRU, both the second.
at::Tensor gate_bias(const Weights& weights, std::int64_t gates, std::int64_t width, double keep) {
  const double bound = 1 / std::sqrt(static_cast<double>(width));
  std::int64_t place = 0;
  return weights.drawn("bias_ih", {gates * width}, [&](RandomStream& stream) {
    return bound * (2 * draw_uniform(stream) - 1) + (place++ / width == 1 ? keep : 0);
  });
}

struct Cell {
  Cell(const Weights& weights, std::int64_t gates, std::int64_t inputs, std::int64_t width,
       double keep)
      : in(cell_weight(weights, "weight_ih", {gates * width, inputs}, width, true)),
        recurrent(cell_weight(weights, "weight_hh", {gates * width, width}, width, true)),
        in_bias(gate_bias(weights, gates, width, keep)),
        recurrent_bias(cell_weight(weights, "bias_hh", {gates * width}, width, false)) {}

  at::Tensor in, recurrent, in_bias, recurrent_bias;
};

class Lstm : public Mixer {
 public:
  Lstm(const Options& options, const MixerPlace& place, const Weights& weights)
      : cell_(weights, 4, place.width, cell_width(options, place), options.number("keep_bias")),
        o_(weights.linear("o_proj", place.width, cell_width(options, place))) {}

  at::Tensor forward(const Stream& stream, PartState* state, Pass& pass) const override {
    const at::Tensor gates =
        stream.project_together({cell_.in}) + (cell_.in_bias + cell_.recurrent_bias);
    std::vector<at::Tensor> states;
    if (const at::Tensor h = remembered(state, "h"); h.defined()) {
      states = {h, remembered(state, "c")};
    }
    const CellRun run = lstm(pass.tap("gates", gates), cell_.recurrent, states, cell_tap(pass));
    if (state != nullptr) {
      (*state)["h"] = run.states[0];
      (*state)["c"] = run.states[1];
    }
    return stream.add_projected(pass.tap("output", run.output), o_);
  }

  MixerDeclaration declaration() const override {
    return {.remembers = {{.name = "h"}, {.name = "c"}}};
  }

 private:
  Cell cell_;
  at::Tensor o_;
};

class Gru : public Mixer {
 public:
  Gru(const Options& options, const MixerPlace& place, const Weights& weights)
      : cell_(weights, 3, place.width, cell_width(options, place), options.number("keep_bias")),
        o_(weights.linear("o_proj", place.width, cell_width(options, place))) {}

  at::Tensor forward(const Stream& stream, PartState* state, Pass& pass) const override {
    const at::Tensor gates = stream.project_together({cell_.in}) + cell_.in_bias;
    std::vector<at::Tensor> states;
    if (const at::Tensor h = remembered(state, "h"); h.defined()) states = {h};
    const CellRun run = gru(pass.tap("gates", gates), cell_.recurrent, cell_.recurrent_bias, states,
                            cell_tap(pass));
    if (state != nullptr) (*state)["h"] = run.states[0];
    return stream.add_projected(pass.tap("output", run.output), o_);
  }

  MixerDeclaration declaration() const override { return {.remembers = {{.name = "h"}}}; }

 private:
  Cell cell_;
  at::Tensor o_;
};

}  // namespace

MixerEntry lstm_mixer() {
  return {.name = "lstm",
          .defaults = {{"cell_size", nullptr}, {"keep_bias", 0.0}},
          .taps = {"gates", "state", "output"},
          .make = make_mixer<Lstm>};
}

MixerEntry gru_mixer() {
  return {.name = "gru",
          .defaults = {{"cell_size", nullptr}, {"keep_bias", 0.0}},
          .taps = {"gates", "state", "output"},
          .make = make_mixer<Gru>};
}

}  // namespace shellgame
