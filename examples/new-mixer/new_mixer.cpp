// A new mixer in a project of its own: a leaky average with an input-dependent leak for each head,
// h_t = a_t h_{t-1} + (1 - a_t) v_t. As a plug-in it becomes a model like any other, which the tool
// trains, evaluates and probes; the probe `leaks` says how long its heads remember.
#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include "shellgame/models/mixer.h"
#include "shellgame/models/plugin.h"
#include "shellgame/probe/heads.h"
#include "shellgame/probe/probe.h"

namespace {

using namespace shellgame;

class LeakyAverage : public Mixer {
 public:
  LeakyAverage(const Options& options, const MixerPlace& place, const Weights& weights)
      : heads_(options.size("num_heads")),
        leak_(weights.linear("a_proj", heads_, place.width)),
        leak_bias_(weights.constant("a_bias", {heads_}, 2)),  // a starts near 0.9
        values_(weights.linear("v_proj", place.width, place.width)),
        output_(weights.linear("o_proj", place.width, place.width)) {
    if (place.width % heads_ != 0) options.refuse("'num_heads' must divide 'hidden_size'");
  }

  // All tokens at once: h_t = sum over s <= t of (product of a_{s+1} .. a_t) (1 - a_s) v_s, a
  // product of a [T, T] matrix for each head. With T = 1 it is the recurrence itself.
  at::Tensor forward(const Stream& stream, PartState* state, Pass& pass) const override {
    const std::vector<at::Tensor> projected = stream.project({leak_, values_});
    const at::Tensor x = projected[0] + leak_bias_;  // [B, T, H]
    const std::int64_t rows = x.size(0), time = x.size(1);
    const at::Tensor total =
        pass.tap("log_decay", at::log_sigmoid(x)).transpose(1, 2).cumsum(2);  // [B, H, T]
    const at::Tensor values =
        pass.tap("v", projected[1].reshape({rows, time, heads_, -1})).transpose(1, 2);
    // Decays from s to t. What lies after t is taken out before exp, which could overflow there.
    const at::Tensor decays =
        (total.unsqueeze(3) - total.unsqueeze(2)).tril().exp().tril();  // [B, H, T, T]
    const at::Tensor inputs = (-x).sigmoid().transpose(1, 2).unsqueeze(3) * values;
    at::Tensor h = at::matmul(decays, inputs);  // [B, H, T, V]
    if (state != nullptr) {
      if (const auto before = state->find("h"); before != state->end()) {
        h = h + total.exp().unsqueeze(3) * before->second;
      }
      (*state)["h"] = h.narrow(2, time - 1, 1);  // [B, H, 1, V]
    }
    const at::Tensor out = pass.tap("output", h.transpose(1, 2));  // [B, T, H, V]
    return stream.add_projected(out.reshape({rows, time, -1}), output_);
  }

  MixerDeclaration declaration() const override {
    return {.heads = heads_, .remembers = {{.name = "h", .heads = heads_}}};
  }

 private:
  std::int64_t heads_;
  at::Tensor leak_, leak_bias_, values_, output_;
};

MixerEntry leaky_average_mixer() {
  return {.name = "leaky_average",
          .defaults = {{"num_heads", 4}},
          .taps = {"log_decay", "v", "output"},
          .make = [](const Options& options, const MixerPlace& place, const Weights& weights) {
            return std::make_unique<LeakyAverage>(options, place, weights);
          }};
}

// By head: the mean number of tokens after which a value has lost all but 1/e of its weight.
nlohmann::ordered_json leaks(const ProbeQuestion& question) {
  const std::vector<LayerHeads> layers = heads_of(question.model);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const Recorded recorded = record(question.model, question.episodes.all().front(), {"log_decay"});
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    if (layers[layer].mixer != "leaky_average") continue;
    const at::Tensor decay = recorded[layer].at("log_decay").mean(0);  // [H]
    for (int head = 0; head < layers[layer].heads; ++head)
      rows.push_back(
          {{"layer", layer}, {"head", head}, {"tokens", -1 / decay[head].item<double>()}});
  }
  return {{"heads", rows}};
}

void register_all() {
  register_mixer(leaky_average_mixer());
  register_probe({.name = "leaks", .ask = leaks});
}

}  // namespace

SHELLGAME_PLUGIN(register_all)
