#include "shellgame/train/memory_estimate.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cmath>

#include "shellgame/ops/engine.h"
#include "shellgame/system/process_memory.h"
#include "shellgame/system/threads.h"
#include "shellgame/train/loss_function.h"
#include "shellgame/train/segment_gradient.h"

namespace shellgame {

namespace {

class OneThread {
 public:
  OneThread() { use_threads(1); }
  ~OneThread() { use_threads(before_); }

 private:
  int before_ = thread_count();
};

// What is in use after a forward pass of B rows of T tokens, each a target, and was not before it.
double kept_after_forward(const Model& model, const LossFunction& function, std::int64_t B,
                          std::int64_t T) {
  const at::Device device = model.parameters().front().value.device();
  const at::Tensor ids = at::zeros({B, T}, at::TensorOptions(at::kLong).device(device));
  const std::int64_t before = memory_in_use();
  const Loss loss =
      model.loss(ids, {ids, {}, at::zeros_like(ids, at::kBool)}, nullptr, nullptr, function);
  return static_cast<double>(memory_in_use() - before);
}

}  // namespace

RowMemory measure_row_memory(const Model& model, std::int64_t longest,
                             const LossFunction& function) {
  // On one thread: others make scratch of their own whenever work first reaches them, which would
  // count as kept, and what rows keep does not depend on the threads.
  const OneThread one_thread;
  // Three lengths in steps of 1, 2, 4; whole chunks where rows are long enough for them.
  const std::int64_t unit = longest >= 512 ? 128 : std::max<std::int64_t>(1, longest / 4);
  kept_after_forward(model, function, 2, 4 * unit);  // tables and scratch are made once and stay
  const double one = kept_after_forward(model, function, 1, unit),
               two = kept_after_forward(model, function, 1, 2 * unit),
               four = kept_after_forward(model, function, 1, 4 * unit),
               pair_of_rows = kept_after_forward(model, function, 2, 2 * unit);
  // m(t) = a + b t + c t^2: from the slopes between the three.
  const auto u = static_cast<double>(unit);
  const double first = (two - one) / u, second = (four - two) / (2 * u);
  RowMemory row{.of_token = std::max(0.0, second)};
  const double pair = (second - first) / (3 * u);
  // Less than a tenth of the growth is how sizes are rounded, not pairs of tokens.
  if (pair * u * 4 > 0.1 * second) {
    row.of_pair = pair;
    row.of_token = std::max(0.0, first - 3 * u * pair);
  }
  double window = 0;
  for (std::size_t i = 0; i < model.layers(); ++i) {
    for (const Remembered& kept : model.declaration(i).remembers) {
      if (kept.kind != Remembered::Kind::kTokens) continue;
      // A token meets itself and those that are remembered.
      window = std::max(window, kept.most > 0 ? static_cast<double>(kept.most + 1) : row.window);
    }
  }
  if (window > 0) row.window = window;
  // What a second row does not need again.
  row.of_step = std::clamp((2 * two - pair_of_rows) / (2 * u), 0.0, row.of_token);
  row.of_token -= row.of_step;
  return row;
}

namespace {

// The tokens of each stage's longest row.
std::vector<std::int64_t> longest_rows(const Experiment& experiment, const Tokenizer* tokenizer) {
  std::vector<std::int64_t> tokens;
  for (const StageSettings& stage : experiment.stages) {
    std::uint64_t longest = 1;
    for (const auto& [spec, data] : stage.data) {
      const SourceOptions options{.seed = experiment.seed, .beliefs = false, .may_be_silent = true};
      longest = std::max(longest, stage.stream ? data->segment_tokens(tokenizer)
                                               : data->source(tokenizer, options)->tokens());
    }
    tokens.push_back(saturating_cast<std::int64_t>(static_cast<double>(longest)));
  }
  return tokens;
}

// Beside the model: ids and targets of a batch, and for each row the trace that they are read from.
// Streams keep theirs between steps.
double memory_of_rows(const StageSettings& stage, std::int64_t tokens) {
  constexpr double kIdAndTarget = 16, kTokenOfTrace = 32, kRow = 512;
  const auto rows = static_cast<double>(stage.batch),
             kept = stage.stream ? rows * static_cast<double>(stage.accumulation) : rows,
             length = static_cast<double>(tokens);
  return rows * length * kIdAndTarget + kept * (kRow + length * kTokenOfTrace);
}

}  // namespace

MemoryEstimate estimate_memory(const Model& model, const Experiment& experiment,
                               const Tokenizer* tokenizer) {
  const std::vector<std::int64_t> tokens = longest_rows(experiment, tokenizer);
  const RowMemory row =
      measure_row_memory(model, std::ranges::max(tokens), loss_function(experiment.loss));
  double kept = 0, rows = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const StageSettings& stage = experiment.stages[i];
    kept = std::max(kept, row.at(stage.batch, piece_tokens(tokens[i], stage.pieces)));
    rows = std::max(rows, memory_of_rows(stage, tokens[i]));
  }
  const auto size = static_cast<std::int64_t>(model.parameters().front().value.element_size());
  // Value and gradient, and two moments; of 16 bits also a master, and the gradient once more.
  const std::int64_t each = size >= 4 ? 4 * size : 2 * size + 4 * 4;
  // While it gives back what was kept, the backward pass holds gradients of it: the measured peak
  // was 1.3 (DeltaNet) to 1.7 times (RWKV-7) what the forward pass keeps, 2.1 for composed
  // attention.
  constexpr double kBackward = 1.5;
  return {.parameters = saturating_multiply(each, model.parameter_count()),
          .activations = saturating_cast<std::int64_t>(kBackward * kept),
          .rows = saturating_cast<std::int64_t>(rows)};
}

}  // namespace shellgame
