#include "shellgame/train/segment_gradient.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "../models/contract_cases.h"

namespace shellgame {
namespace {

double rms(const at::Tensor& x) { return x.square().mean().sqrt().item<double>(); }

at::Tensor some_ids(std::int64_t T) {
  return (at::arange(2 * T).view({2, T}).to(at::kLong) * 7 + 3) % 19;
}

// Targets at a few places only, none of them in the second quarter.
at::Tensor some_targets(const at::Tensor& ids) {
  const std::int64_t T = ids.size(1);
  at::Tensor targets = at::full_like(ids, -100);
  for (std::int64_t t = 5; t < T; t += 11) {
    if (t < T / 4 || t >= T / 2) targets.select(1, t).copy_((ids.select(1, t) + 1) % 19);
  }
  return targets;
}

std::vector<at::Tensor> taken_gradients(const Model& model) {
  std::vector<at::Tensor> gradients;
  for (const Parameter& parameter : model.parameters()) {
    at::Tensor value = parameter.value;
    gradients.push_back(value.grad().defined() ? value.grad().clone() : at::zeros_like(value));
    value.mutable_grad() = at::Tensor();
  }
  return gradients;
}

// Soft targets at every seventh token: two tokens with weights p and 1 - p.
SoftTargets soft_at(const at::Tensor& ids, double p) {
  std::vector<std::int64_t> places, truths, owners, tokens;
  std::vector<float> weights;
  const std::int64_t T = ids.size(1);
  for (std::int64_t place = 0; place < ids.numel(); place += 7) {
    if (place % T == 5) continue;
    for (const bool first : {true, false}) {
      owners.push_back(static_cast<std::int64_t>(places.size()));
      tokens.push_back((place + (first ? 1 : 4)) % 19);
      weights.push_back(static_cast<float>(first ? p : 1 - p));
    }
    truths.push_back((place + 1) % 19);
    places.push_back(place);
  }
  return {at::tensor(places), at::tensor(truths), at::tensor(owners), at::tensor(tokens),
          at::tensor(weights)};
}

Model small_delta_net() {
  return Model(ModelConfig({{"model_type", "delta_net"},
                            {"hidden_size", 16},
                            {"num_heads", 2},
                            {"num_hidden_layers", 2},
                            {"intermediate_size", 24},
                            {"vocab_size", 19},
                            {"initializer_range", 0.3}}));
}

// All the weight on one token is a hard target there.
TEST(SoftTargets, OfOneTokenAreHardOnes) {
  const Model model = small_delta_net();
  const at::Tensor ids = some_ids(60);
  at::Tensor targets = at::full_like(ids, -100);
  for (std::int64_t t = 2; t < 60; t += 5) targets.select(1, t).copy_((ids.select(1, t) + 2) % 19);
  const SoftTargets soft = soft_at(ids, 1);
  for (std::int64_t i = 0; i < soft.places.numel(); ++i)
    targets.view({-1}).index_put_({soft.places[i]}, at::tensor(std::int64_t{-100}));
  at::Tensor hard = targets.clone();
  hard.view({-1}).index_put_({soft.places}, soft.truths);
  const SegmentLoss expected = add_segment_gradient(model, ids, hard, 1, 1, nullptr);
  const auto gradients = taken_gradients(model);
  const SegmentLoss found = add_segment_gradient(model, ids, {targets, soft}, 1, 1, nullptr);
  const auto others = taken_gradients(model);
  EXPECT_NEAR(found.mean, expected.mean, 1e-5);
  EXPECT_TRUE(found.correct.equal(expected.correct));
  double all = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    all += rms(gradients[i]);
    EXPECT_LT(rms(gradients[i] - others[i]), 1e-5 * (rms(gradients[i]) + 1e-3));
  }
  EXPECT_GT(all, 1e-3);
}

// The mean of the losses of what may come is the loss of the belief.
TEST(SoftTargets, AreTheMeanOverWhatMayCome) {
  const Model model = small_delta_net();
  const at::Tensor ids = some_ids(60), none = at::full_like(ids, -100);
  const auto loss = [&](double p) {
    return model.loss(ids, {none, soft_at(ids, p)}).mean.item<double>();
  };
  EXPECT_NEAR(loss(0.3), 0.3 * loss(1) + 0.7 * loss(0), 1e-5);
  EXPECT_GT(std::abs(loss(1) - loss(0)), 1e-3);
}

TEST(SoftTargets, InPiecesGiveTheGradientOfTheWhole) {
  const Model model = small_delta_net();
  const at::Tensor ids = some_ids(300), targets = some_targets(ids);
  at::Tensor rest = targets.clone();
  const SoftTargets soft = soft_at(ids, 0.3);
  rest.view({-1}).index_put_({soft.places}, at::tensor(std::int64_t{-100}));
  const SegmentLoss whole = add_segment_gradient(model, ids, {rest, soft}, 1, 1, nullptr);
  const auto expected = taken_gradients(model);
  const SegmentLoss pieces = add_segment_gradient(model, ids, {rest, soft}, 3, 1, nullptr);
  const auto gradients = taken_gradients(model);
  EXPECT_NEAR(pieces.mean, whole.mean, 1e-5);
  EXPECT_TRUE(pieces.correct.equal(whole.correct));
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_LT(rms(gradients[i] - expected[i]), 1e-4 * (rms(expected[i]) + 1e-4));
}

class SegmentGradient : public testing::TestWithParam<ContractCase> {};

TEST_P(SegmentGradient, PiecesGiveTheGradientOfTheWhole) {
  const Model model(ModelConfig(GetParam().config));
  const at::Tensor ids = some_ids(300), targets = some_targets(ids);
  ModelState begin;
  {
    const at::NoGradGuard no_gradients;
    model.logits(some_ids(20), &begin);
  }
  ModelState whole_state = begin, state = begin;
  const SegmentLoss whole = add_segment_gradient(model, ids, targets, 1, 0.5, &whole_state);
  const auto expected = taken_gradients(model);
  const SegmentLoss pieces = add_segment_gradient(model, ids, targets, 4, 0.5, &state);
  const auto gradients = taken_gradients(model);

  EXPECT_NEAR(pieces.mean, whole.mean, 1e-5);
  EXPECT_TRUE(pieces.correct.equal(whole.correct));
  EXPECT_EQ(state.tokens, whole_state.tokens);
  double all = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    all += rms(expected[i]);
    EXPECT_LT(rms(gradients[i] - expected[i]), 1e-3 * rms(expected[i]) + 1e-7)
        << model.parameters()[i].name;
  }
  EXPECT_GT(all, 0);
  const at::NoGradGuard no_gradients;
  EXPECT_LT(rms(model.logits(ids, &state) - model.logits(ids, &whole_state)), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Mixers, SegmentGradient, testing::ValuesIn(contract_cases()),
                         [](const auto& test) { return test.param.name; });

TEST(PieceTokens, AreWholeChunksAndCoverAllTokens) {
  EXPECT_EQ(piece_tokens(300, 1), 300);
  EXPECT_EQ(piece_tokens(300, 4), 128);
  EXPECT_EQ(piece_tokens(256, 4), 64);
  EXPECT_EQ(piece_tokens(20, 4), 20);
  for (std::int64_t T = 1; T < 1000; T += 37) {
    for (std::int64_t pieces = 1; pieces < 9; ++pieces)
      EXPECT_GE(piece_tokens(T, pieces) * pieces, T) << T << " in " << pieces;
  }
}

TEST(SegmentGradientAlone, WithoutATargetNothingChangesButTheState) {
  const Model model(ModelConfig(contract_cases().front().config));
  const at::Tensor ids = some_ids(200);
  ModelState state;
  const SegmentLoss loss = add_segment_gradient(model, ids, at::full_like(ids, -100), 3, 1, &state);
  EXPECT_EQ(loss.mean, 0);
  EXPECT_EQ(state.tokens, 200);
  for (const at::Tensor& gradient : taken_gradients(model)) EXPECT_EQ(rms(gradient), 0);
}

TEST(SegmentGradientAlone, ALossThatIsNotFiniteComesBack) {
  const Model model(ModelConfig(contract_cases().front().config));
  const at::Tensor ids = some_ids(200);
  {
    const at::NoGradGuard no_gradients;
    at::Tensor value = model.parameters().back().value;
    value.fill_(std::numeric_limits<float>::quiet_NaN());
  }
  EXPECT_FALSE(
      std::isfinite(add_segment_gradient(model, ids, some_targets(ids), 3, 1, nullptr).mean));
}

}  // namespace
}  // namespace shellgame
