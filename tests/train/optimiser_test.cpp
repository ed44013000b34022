#include "shellgame/train/optimiser.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

Model small_model() {
  return Model(ModelConfig({{"model_type", "delta_net"},
                            {"hidden_size", 16},
                            {"num_hidden_layers", 1},
                            {"num_heads", 2},
                            {"vocab_size", 11}}));
}

void fill_gradients(const Model& model, double value) {
  for (const Parameter& parameter : model.parameters())
    at::Tensor(parameter.value).mutable_grad() = at::full_like(parameter.value, value);
}

TEST(Muon, SingularValuesEndNearOne) {
  at::manual_seed(1);
  for (const auto& shape : {std::vector<std::int64_t>{24, 24}, {40, 16}, {16, 40}}) {
    const at::Tensor matrix = nearly_orthogonal(at::randn(shape));
    const at::Tensor values = at::linalg_svdvals(matrix);
    EXPECT_GT(values.min().item<double>(), 0.3);
    EXPECT_LT(values.max().item<double>(), 1.3);
  }
}

// Of a diagonal matrix only the diagonal is changed, by the published quintic.
TEST(Muon, IsThePublishedIteration) {
  const at::Tensor diagonal = at::tensor({0.6, 0.8}, at::kDouble);  // of norm 1
  at::Tensor expected = diagonal;
  for (int i = 0; i < 5; ++i)
    expected = 3.4445 * expected - 4.7750 * expected.pow(3) + 2.0315 * expected.pow(5);
  const at::Tensor got = nearly_orthogonal(at::diag(diagonal));
  EXPECT_LT((got - at::diag(expected)).abs().max().item<double>(), 1e-5);
}

TEST(Optimiser, MuonTakesTheMatricesInsideBlocks) {
  const Model model = small_model();
  const Optimiser optimiser(model, {.kind = "muon"});
  const auto tensors = optimiser.tensors();
  for (const Parameter& parameter : model.parameters()) {
    const bool inside =
        parameter.value.dim() == 2 && parameter.name.find("layers.") != std::string::npos;
    EXPECT_EQ(tensors.contains("momentum." + parameter.name), inside) << parameter.name;
    EXPECT_EQ(tensors.contains("mean." + parameter.name), !inside) << parameter.name;
  }
}

TEST(Optimiser, ANormThatIsNotFiniteChangesNothing) {
  for (const char* kind : {"adamw", "muon"}) {
    const Model model = small_model();
    Optimiser optimiser(model, {.kind = kind});
    fill_gradients(model, NAN);
    std::vector<at::Tensor> before;
    for (const Parameter& parameter : model.parameters())
      before.push_back(parameter.value.detach().clone());
    EXPECT_FALSE(std::isfinite(optimiser.step(1e-2)));
    for (std::size_t i = 0; i < before.size(); ++i)
      EXPECT_TRUE(at::equal(before[i], model.parameters()[i].value.detach()));
  }
}

// A bf16 weight near 1 has steps of 2^-8; these are a hundred times smaller.
TEST(Optimiser, SmallStepsOfSixteenBitWeightsAddUp) {
  for (const char* kind : {"adamw", "muon"}) {
    for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
      Model model = small_model();
      model.to(type);
      {
        const at::NoGradGuard no_gradients;
        for (const Parameter& parameter : model.parameters()) parameter.value.detach().fill_(1);
      }
      Optimiser optimiser(
          model, {.kind = kind, .learning_rate = 1e-4, .decay = 0, .clip = 0, .muon_rate = 1e-3});
      for (int step = 0; step < 500; ++step) {
        fill_gradients(model, 0.1);
        optimiser.step(1e-4);
      }
      for (const Parameter& parameter : model.parameters()) {
        EXPECT_EQ(parameter.value.scalar_type(), type);
        EXPECT_LT(parameter.value.mean().item<double>(), 0.999) << kind << " " << parameter.name;
      }
      for (const auto& [name, tensor] : optimiser.tensors())
        EXPECT_EQ(tensor.scalar_type(), at::kFloat) << name;
    }
  }
}

TEST(Optimiser, AGroupThatNothingBelongsToIsRefused) {
  const Model model = small_model();
  EXPECT_THROW(Optimiser(model, {.groups = {{.match = "embedings", .decay = {}, .rate = 0}}}),
               UsageError);
}

TEST(Optimiser, AGroupIsFoundByItsName) {
  const Model model = small_model();
  Optimiser optimiser(model, {.groups = {{.match = "embeddings", .decay = {}, .rate = 0}}});
  fill_gradients(model, 0.1);
  const at::Tensor frozen = model.parameters()[0].value.detach().clone();
  const at::Tensor moving = model.parameters()[1].value.detach().clone();
  optimiser.step(1e-2);
  EXPECT_TRUE(at::equal(frozen, model.parameters()[0].value.detach()));
  EXPECT_FALSE(at::equal(moving, model.parameters()[1].value.detach()));
}

}  // namespace
}  // namespace shellgame
