#include "shellgame/train/segment_gradient.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

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
