// A new mixer in a project of its own: a leaky average with an input-dependent leak for each head,
// h_t = a_t h_{t-1} + (1 - a_t) v_t. Registered by name, it becomes a model like any other, which
// is trained for some steps on traces; then its streaming form is compared with its parallel one.
#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <cmath>
#include <exception>

#include "shellgame/episodes/batcher.h"
#include "shellgame/episodes/trace_source.h"
#include "shellgame/models/mixer.h"
#include "shellgame/models/model.h"
#include "shellgame/ops/adamw.h"
#include "shellgame/ops/engine.h"
#include "shellgame/system/threads.h"
#include "shellgame/tokens/lexeme_tokenizer.h"

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
      (*state)["h"] = h.narrow(2, time - 1, 1);
    }
    const at::Tensor out = pass.tap("output", h.transpose(1, 2));  // [B, T, H, V]
    return stream.add_projected(out.reshape({rows, time, -1}), output_);
  }

 private:
  std::int64_t heads_;
  at::Tensor leak_, leak_bias_, values_, output_;
};

MixerEntry leaky_average_mixer() {
  return {.name = "leaky_average",
          .defaults = {{"num_heads", 4}},
          .taps = {"log_decay", "v", "output"},
          .constant_memory = [](const Options&) { return true; },
          .make =
              [](const Options& options, const MixerPlace& place, const Weights& weights) {
                return std::make_unique<LeakyAverage>(options, place, weights);
              }};
}

// Traces of a small task as token ids [B, T]; a batch is a pure function of its step.
Batch draw_batch(std::int64_t step) {
  static const LexemeTokenizer tokenizer;
  static const TraceData data(
      Task{.group = "S3", .moves = Moves::kSwaps, .commands = 4, .spacing = 1});
  static Batcher batcher(
      {.sources = {data.source(&tokenizer, {.seed = 1})}, .rows = 16, .steps = 1 << 21});
  return batcher.batch(step);
}

at::Tensor tensor_of(const std::vector<std::int64_t>& numbers, const Batch& batch) {
  return at::tensor(numbers, at::kLong).view({batch.rows, batch.time});
}

// Returns the last loss over the first.
double train(const Model& model, int steps) {
  std::vector<at::Tensor> values;
  std::vector<bool> decays;
  for (const Parameter& parameter : model.parameters()) {
    values.push_back(parameter.value);
    decays.push_back(parameter.decays);
  }
  AdamW optimiser(values, decays, {});
  double first = 0, last = 0;
  for (int step = 0; step < steps; ++step) {
    const Batch batch = draw_batch(step);
    const Model::Loss loss =
        model.loss(tensor_of(batch.ids, batch), tensor_of(batch.targets, batch));
    loss.mean.backward();
    optimiser.step(/*learning_rate=*/3e-3);
    optimiser.clear_gradients();
    last = loss.mean.item<double>();
    if (step == 0) first = last;
    if (step % 10 == 0 || step == steps - 1) fmt::print("step {:3}  loss {:.4f}\n", step, last);
  }
  return last / first;
}

// rms of the difference between token-by-token and all-at-once logits, over the latter's rms.
double streaming_error(const Model& model) {
  const c10::NoGradGuard no_gradients;
  const Batch batch = draw_batch(1 << 20);
  const at::Tensor ids = tensor_of(batch.ids, batch);
  const at::Tensor parallel = model.logits(ids);
  ModelState state;
  std::vector<at::Tensor> steps;
  for (std::int64_t t = 0; t < ids.size(1); ++t) {
    steps.push_back(model.step(ids.select(1, t), state));
  }
  const double error = (at::stack(steps, 1) - parallel).square().mean().item<double>();
  return std::sqrt(error / parallel.square().mean().item<double>());
}

}  // namespace

int main() try {
  use_threads(default_thread_count());
  register_mixer(leaky_average_mixer());
  const Model model(ModelConfig({{"model_type", "shellgame_leaky_average"},
                                 {"hidden_size", 64},
                                 {"num_hidden_layers", 2},
                                 {"intermediate_size", 128},
                                 {"vocab_size", LexemeTokenizer().vocabulary_size()}}));
  fmt::print("{}: {} parameters\n", model.config().model_type(), model.parameter_count());
  const double ratio = train(model, 40);
  const double error = streaming_error(model);
  fmt::print("streaming against parallel: rms ratio {:.1e}\n", error);
  if (ratio > 0.5 || error > 1e-5 || !model.constant_memory()) {
    fmt::print(stderr, "new_mixer: the loss must halve and streaming must equal parallel\n");
    return 1;
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "new_mixer: {}\n", error.what());
  return 1;
}
