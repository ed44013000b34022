#include "shellgame/train/memory_estimate.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "shellgame/ops/engine.h"
#include "shellgame/system/process_memory.h"
#include "shellgame/system/threads.h"

namespace shellgame {
namespace {

using Json = nlohmann::json;

Model small(const Json& changes) {
  Json config = {{"model_type", "delta_net"}, {"hidden_size", 64},
                 {"num_hidden_layers", 2},    {"num_heads", 2},
                 {"intermediate_size", 128},  {"vocab_size", 90}};
  config.merge_patch(changes);
  return Model(ModelConfig(config, "test"), {.seed = 0, .kind = InitKind::kTorch});
}

double kept(const Model& model, std::int64_t B, std::int64_t T) {
  const at::Tensor ids = at::zeros({B, T}, at::kLong);
  const std::int64_t before = memory_in_use();
  const Loss loss = model.loss(ids, ids);
  return static_cast<double>(memory_in_use() - before);
}

TEST(MemoryEstimate, ShortRowsTellWhatLongBatchesKeep) {
  const std::vector<Json> kinds = {
      Json::object(),
      {{"model_type", "transformer"}},
      {{"model_type", "shellgame_lstm"}},
      {{"model_type", "gated_deltaproduct"}, {"head_dim", 32}, {"num_householder", 2}},
      {{"model_type", "rwkv7"}, {"head_dim", 32}}};
  for (const Engine engine : {Engine::kKernels, Engine::kComposed}) {
    const EngineScope scope(engine);
    for (const Json& kind : kinds) {
      const Model model = small(kind);
      const std::int64_t B = 3, T = 800;
      const RowMemory row = measure_row_memory(model, T);
      const double expected = row.at(B, T), got = kept(model, B, T);
      SCOPED_TRACE(fmt::format("{}: {} and {} bytes, composed: {}", kind.dump(), row.of_token,
                               row.of_pair, engine == Engine::kComposed));
      EXPECT_GT(expected, 0.7 * got);
      EXPECT_LT(expected, 1.4 * got);
    }
  }
}

// Threads make scratch of their own when work first reaches them, whenever that is.
TEST(MemoryEstimate, ThreadsDoNotCountAsWhatRowsKeep) {
  const int before = thread_count();
  use_threads(1);
  const Model model = small({{"hidden_size", 32}, {"num_hidden_layers", 1}, {"num_heads", 1}});
  const double expected = measure_row_memory(model, 40'000).at(1, 40'000);
  for (int i = 0; i < 12; ++i) {
    use_threads(3);  // new threads, which have no scratch yet
    const RowMemory row = measure_row_memory(model, 40'000);
    EXPECT_EQ(row.of_pair, 0);
    EXPECT_NEAR(row.at(1, 40'000) / expected, 1, 0.1);
    EXPECT_EQ(thread_count(), 3);
    use_threads(2);
  }
  use_threads(before);
}

TEST(MemoryEstimate, OnlyComposedAttentionKeepsPairsOfTokens) {
  const Model model = small({{"model_type", "transformer"}});
  EXPECT_EQ(measure_row_memory(model, 4096).of_pair, 0);
  const EngineScope composed(Engine::kComposed);
  const RowMemory whole = measure_row_memory(model, 4096);
  EXPECT_GT(whole.of_pair, 0);
  // With a window, no farther than that.
  const Model windowed = small({{"model_type", "transformer"}, {"window_size", 512}});
  EXPECT_LT(measure_row_memory(windowed, 1 << 16).at(1, 1 << 16), 0.1 * whole.at(1, 1 << 16));
}

TEST(MemoryEstimate, WhatIsTooLargeForTheTypeStaysTooLarge) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const MemoryEstimate sum{.parameters = most, .activations = most, .rows = most};
  EXPECT_EQ(sum.total(), most);
  const Model model = small(Json::object());
  const auto estimate = [&](const std::string& batch, const std::string& commands) {
    const Experiment experiment =
        parse_experiment("[model]\nmodel_type = \"delta_net\"\n[[stages]]\nbatch = " + batch +
                             "\ncommands = " + commands + "\nspacing = 1\n",
                         "x.toml");
    return estimate_memory(model, experiment, open_tokenizer("lexeme").get()).total();
  };
  // Longer rows than those that are made to measure: ten times the commands, ten times the memory.
  const auto long_rows = static_cast<double>(estimate("64", "100000"));
  EXPECT_NEAR(static_cast<double>(estimate("64", "10000")) / long_rows, 0.1, 0.02);
  EXPECT_GT(estimate("1048576", "1000000000000"), std::int64_t{1} << 62);
}

}  // namespace
}  // namespace shellgame
