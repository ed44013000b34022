// The paper's configuration: d 512, 8 heads of 128, Qwen3's vocabulary untied. The always-run tests
// take two layers and fewer words; the whole models are run by hand, since they need 5 GB and files
// of a gigabyte: learn_tests --gtest_also_run_disabled_tests --gtest_filter='*WholeModel*'
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <chrono>

#include "shellgame/models/checkpoint.h"
#include "shellgame/ops/adamw.h"
#include "shellgame/ops/engine.h"
#include "shellgame/random/philox.h"
#include "shellgame/system/process_memory.h"
#include "tests/models/expect_equal.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

constexpr std::int64_t kQwen3Vocabulary = 151'936;

ModelConfig paper(std::int64_t layers, std::int64_t vocabulary,
                  nlohmann::json changes = nlohmann::json::object()) {
  nlohmann::json keys = {{"model_type", "delta_net"},
                         {"hidden_size", 512},
                         {"num_heads", 8},
                         {"expand_k", 2},
                         {"expand_v", 2},
                         {"num_hidden_layers", layers},
                         {"vocab_size", vocabulary},
                         {"allow_neg_eigval", true}};
  keys.update(changes);
  return ModelConfig(keys);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Forward, loss, backward, clipping and AdamW; everything finite, every parameter moved.
void train_a_step(Model& model, std::int64_t batch, std::int64_t time) {
  std::vector<at::Tensor> values, before;
  std::vector<bool> decays;
  for (const Parameter& parameter : model.parameters()) {
    values.push_back(parameter.value);
    decays.push_back(parameter.decays);
    // A row is enough to see that a parameter moves, and rows of the embedding are many.
    before.push_back(parameter.value.detach().flatten().narrow(0, 0, 1).clone());
  }
  const std::int64_t vocabulary = model.config().spec().vocabulary;
  RandomStream numbers(1, 0);
  at::Tensor all = at::empty({batch, time + 1}, at::kLong);
  for (std::int64_t i = 0; i < all.numel(); ++i) {
    all.data_ptr<std::int64_t>()[i] = numbers.below(static_cast<std::uint32_t>(vocabulary));
  }
  all[0][0] = 0;  // the embedding's first row is read, so it moves by its gradient too
  AdamW optimiser(values, decays, {});
  const Loss loss =
      model.loss(all.narrow(1, 0, time).contiguous(), all.narrow(1, 1, time).contiguous());
  EXPECT_EQ(loss.counted, batch * time);
  // Fresh weights guess: the loss is about that of equal chances.
  EXPECT_NEAR(loss.mean.item<double>(), std::log(static_cast<double>(vocabulary)), 1);
  loss.mean.backward();
  const double norm = optimiser.step(1e-3);
  EXPECT_TRUE(std::isfinite(norm));
  EXPECT_GT(norm, 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& name = model.parameters()[i].name;
    EXPECT_TRUE(values[i].isfinite().all().item<bool>()) << name;
    EXPECT_FALSE(values[i].detach().flatten().narrow(0, 0, 1).equal(before[i])) << name;
  }
  optimiser.clear_gradients();
}

void train_and_come_back(Model& model, std::int64_t batch, std::int64_t time) {
  reset_peak_memory();
  auto start = std::chrono::steady_clock::now();
  train_a_step(model, batch, time);
  testing::Test::RecordProperty("step_seconds", std::to_string(seconds_since(start)));
  testing::Test::RecordProperty("step_peak_bytes", std::to_string(peak_memory()));
  const ScratchFolder folder;
  start = std::chrono::steady_clock::now();
  save_model(model, folder.path());
  testing::Test::RecordProperty("save_seconds", std::to_string(seconds_since(start)));
  start = std::chrono::steady_clock::now();
  const Model again = load_model(folder.path());
  testing::Test::RecordProperty("load_seconds", std::to_string(seconds_since(start)));
  expect_equal(again, model);
}

std::int64_t count(std::int64_t layers, std::int64_t inner, std::int64_t vocabulary) {
  const std::int64_t d = 512, all = 1024, heads = 8;
  const std::int64_t mixer = 3 * all * d + heads * d + 3 * all * 4 + 128 + d * all;
  return 2 * vocabulary * d + layers * (mixer + 3 * d * inner + 2 * d) + d;
}

// docs/models.md has the table.
TEST(Paper, TheCountsOfParametersAreThoseOfTheDocumentation) {
  EXPECT_EQ(count(18, 1536, kQwen3Vocabulary), 236'114'688);
  EXPECT_EQ(count(18, 2048, kQwen3Vocabulary), 250'270'464);
  EXPECT_EQ(count(21, 1536, kQwen3Vocabulary), 249'536'640);
  EXPECT_EQ(count(21, 2048, kQwen3Vocabulary), 266'051'712);
}

TEST(Paper, TwoLayersOfItsWidthTrainAndComeBackBitForBit) {
  for (const std::int64_t inner : {1536, 2048}) {
    // 1536 is what fla's rule gives when nothing is said.
    Model model(paper(2, 3000,
                      inner == 1536 ? nlohmann::json::object()
                                    : nlohmann::json{{"intermediate_size", inner}}),
                {.seed = 3});
    EXPECT_EQ(model.parameter_count(), count(2, inner, 3000));
    train_and_come_back(model, 2, 40);
  }
}

// By hand; the measurements are in the properties of --gtest_output=json.
class DISABLED_WholeModel : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(DISABLED_WholeModel, TrainsAndComesBackBitForBit) {
  const auto [layers, inner] = GetParam();
  keep_freed_memory();
  use_threads(2);
  Model model(paper(layers, kQwen3Vocabulary, {{"intermediate_size", inner}}), {.seed = 3});
  EXPECT_EQ(model.parameter_count(), count(layers, inner, kQwen3Vocabulary));
  train_and_come_back(model, 1, 1465);
}

INSTANTIATE_TEST_SUITE_P(Paper, DISABLED_WholeModel,
                         testing::Values(std::pair{18, 1536}, std::pair{18, 2048},
                                         std::pair{21, 1536}, std::pair{21, 2048}));

}  // namespace
}  // namespace shellgame
