// Whole training steps of DeltaNet with the lexeme vocabulary: forward, loss, backward, clipping,
// AdamW. Beside each the same model in plain LibTorch operations (chunked form).
#include <ATen/Functions.h>
#include <fmt/format.h>

#include "shellgame/ops/adamw.h"
#include "shellgame/ops/engine.h"
#include "shellgame/ops/timing.h"
#include "shellgame/system/messages.h"
#include "shellgame/system/process_memory.h"
#include "shellgame/tokens/lexeme_tokenizer.h"
#include "shellgame/tool/bench_model.h"

namespace shellgame {
namespace {

struct StepCase {
  std::string name;
  std::int64_t layers, width, heads, head_width, hidden, batch, time;
};

const StepCase kCases[] = {{"a", 2, 64, 2, 32, 160, 32, 1465},
                           {"b", 2, 128, 4, 32, 512, 64, 200},
                           {"c", 6, 256, 8, 32, 768, 16, 512},
                           {"d", 18, 512, 8, 128, 1536, 4, 1465}};

constexpr double kLargeWork = 1e12;  // FLOP a step

Model make_model(const StepCase& size) {
  const double expand =
      static_cast<double>(size.heads * size.head_width) / static_cast<double>(size.width);
  return Model(ModelConfig({{"model_type", "delta_net"},
                            {"hidden_size", size.width},
                            {"num_hidden_layers", size.layers},
                            {"num_heads", size.heads},
                            {"expand_k", expand},
                            {"expand_v", expand},
                            {"allow_neg_eigval", true},
                            {"intermediate_size", size.hidden},
                            {"vocab_size", LexemeTokenizer().vocabulary_size()}}));
}

// A model with what trains it.
struct Trainer {
  explicit Trainer(const StepCase& size) : model(make_model(size)), optimiser(make()) {
    const std::int64_t vocabulary = model.config().spec().vocabulary;
    at::Tensor all = at::empty({size.batch, size.time + 1}, at::kLong);
    RandomStream numbers(1, 0);
    for (std::int64_t i = 0; i < all.numel(); ++i) {
      all.data_ptr<std::int64_t>()[i] = numbers.below(static_cast<std::uint32_t>(vocabulary));
    }
    ids = all.narrow(1, 0, size.time).contiguous();
    targets = all.narrow(1, 1, size.time).contiguous();
  }

  AdamW make() const {
    std::vector<at::Tensor> values;
    std::vector<bool> decays;
    for (const Parameter& parameter : model.parameters()) {
      values.push_back(parameter.value);
      decays.push_back(parameter.decays);
    }
    return AdamW(values, decays, {});
  }

  void step() {
    Loss loss = [&] {
      const PartTimer timer("all forward");
      return model.loss(ids, targets);
    }();
    {
      const PartTimer timer("all backward");
      loss.mean.backward();
    }
    const PartTimer timer("clip and AdamW");
    optimiser.step(1e-4);
    optimiser.clear_gradients();
  }

  Model model;
  AdamW optimiser;
  at::Tensor ids, targets;
};

BenchJson bench_case(const StepCase& size, int rounds) {
  Trainer trainer(size);
  const std::int64_t tokens = size.batch * size.time;
  const std::int64_t counted =
      trainer.model.parameter_count() - trainer.model.parameters().front().value.numel();
  const double work = 6.0 * static_cast<double>(counted) * static_cast<double>(tokens);
  reset_peak_memory();
  trainer.step();
  const std::int64_t memory = peak_memory();
  GemmPeak peak;
  const auto composed = [&] {
    const EngineScope engine(Engine::kComposed);
    trainer.step();
  };
  // The peak takes its turn too: a busy moment hits all alike. A step of the largest case takes
  // half a minute: one round, without a rehearsal.
  const bool large = work > kLargeWork;
  const std::vector<double> times =
      take_turns(large ? 1 : rounds,
                 {[&] { trainer.step(); }, composed, [&] { peak = measure_gemm_peak(); }}, !large);
  start_part_timing();
  trainer.step();
  const auto parts = stop_part_timing();
  const double step =
      parts.at("all forward") + parts.at("all backward") + parts.at("clip and AdamW");
  BenchJson shares = BenchJson::object();
  for (const auto& [name, seconds] : parts) shares[name] = seconds / step;
  const double rate = static_cast<double>(tokens) / times[0];
  say("bench: step {}: {:.0f} tokens/s, {:.1f} % of {:.0f} GFLOP/s, {:.1f} x composed", size.name,
      rate, 100 * work / times[0] / peak.best(), peak.best() * 1e-9, times[1] / times[0]);
  return {{"case", size.name},
          {"layers", size.layers},
          {"width", size.width},
          {"heads", size.heads},
          {"head_width", size.head_width},
          {"swiglu", size.hidden},
          {"batch", size.batch},
          {"tokens", size.time},
          {"parameters", trainer.model.parameter_count()},
          {"seconds", times[0]},
          {"tokens_per_second", rate},
          {"gflops", work / times[0] * 1e-9},
          {"gemm_peak_gflops", peak.best() * 1e-9},
          {"utilisation", work / times[0] / peak.best()},
          {"composed_tokens_per_second", static_cast<double>(tokens) / times[1]},
          {"speed_against_composed", times[1] / times[0]},
          {"peak_memory_bytes", memory},
          {"shares", shares}};
}

}  // namespace

BenchJson bench_steps(const std::vector<std::string>& cases, int rounds) {
  BenchJson list = BenchJson::array();
  for (const StepCase& size : kCases) {
    if (std::ranges::find(cases, size.name) == cases.end()) continue;
    list.push_back(bench_case(size, rounds));
  }
  return list;
}

}  // namespace shellgame
