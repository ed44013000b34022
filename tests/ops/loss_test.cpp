// The head's loss in the forms that its size chooses, against plain Torch operations in double.
#include "shellgame/ops/loss.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "shellgame/ops/engine.h"
#include "shellgame/text/error.h"
#include "tests/ops/rms_ratio.h"

namespace shellgame {
namespace {

struct Sizes {
  std::int64_t rows, width, vocabulary;
  bool normed;
};

class TokenLossForms : public testing::TestWithParam<Sizes> {};

TEST_P(TokenLossForms, AgreeInLossAndGradients) {
  const auto [rows, width, vocabulary, normed] = GetParam();
  at::manual_seed(3);
  const at::Tensor x = at::randn({rows, width}).requires_grad_();
  const at::Tensor head = (0.05 * at::randn({vocabulary, width})).requires_grad_();
  const at::Tensor norm = normed ? at::rand({width}).requires_grad_() : at::Tensor();
  const at::Tensor targets = at::randint(vocabulary, {rows}, at::kLong);
  targets[0] = -1;
  targets[rows - 2] = -100;
  // One position whose largest logit is certain.
  head.data()[5] = (normed ? x.data()[3] * norm.data() : x.data()[3]);
  targets[3] = 5;
  std::vector<at::Tensor> inputs = {x, head};
  if (normed) inputs.push_back(norm);
  std::vector<at::Tensor> doubles;
  for (const at::Tensor& input : inputs)
    doubles.push_back(input.detach().to(at::kDouble).requires_grad_());
  const TokenLoss wanted =
      token_loss(doubles[0], normed ? doubles[2] : at::Tensor(), 1e-6, doubles[1], targets, false);
  // An upstream gradient other than 1.
  const auto wanted_gradients = torch::autograd::grad({wanted.mean * 3}, doubles);
  for (const Engine which : {Engine::kKernels, Engine::kComposed}) {
    SCOPED_TRACE(which == Engine::kKernels ? "kernels" : "composed");
    const EngineScope engine(which);
    const TokenLoss loss = token_loss(x, norm, 1e-6, head, targets, false);
    EXPECT_NEAR(loss.mean.item<double>() / wanted.mean.item<double>(), 1, 1e-5);
    EXPECT_TRUE(loss.correct.equal(wanted.correct));
    EXPECT_TRUE(loss.correct[3].item<bool>());
    const auto gradients = torch::autograd::grad({loss.mean * 3}, inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      ASSERT_GT(wanted_gradients[i].abs().max().item<double>(), 0) << i;
      EXPECT_LT(rms_ratio(gradients[i].to(at::kDouble), wanted_gradients[i]), 1e-4) << i;
    }
  }
}

// The last two have heads that are left to Torch, in more than one block of rows and in one.
INSTANTIATE_TEST_SUITE_P(Sizes, TokenLossForms,
                         testing::Values(Sizes{97, 64, 90, true}, Sizes{40, 33, 1000, false},
                                         Sizes{301, 512, 33'000, true},
                                         Sizes{20, 520, 33'000, false}));

TEST(TokenLoss, NoTargetMeansZeroAndNoGradient) {
  for (const std::int64_t vocabulary : {50, 40'000}) {
    const at::Tensor x = at::randn({5, 512}).requires_grad_();
    const at::Tensor head = at::randn({vocabulary, 512}).requires_grad_();
    const TokenLoss loss = token_loss(x, {}, 1e-6, head, at::full({5}, -1, at::kLong), false);
    EXPECT_EQ(loss.mean.item<double>(), 0);
    const auto gradients = torch::autograd::grad({loss.mean}, {x, head});
    EXPECT_EQ(gradients[0].abs().max().item<float>(), 0);
    EXPECT_EQ(gradients[1].abs().max().item<float>(), 0);
  }
}

TEST(TokenLoss, ATargetBeyondTheVocabularyIsRefused) {
  for (const std::int64_t vocabulary : {50, 40'000}) {
    const at::Tensor x = at::randn({5, 512}), head = at::randn({vocabulary, 512});
    EXPECT_THROW(token_loss(x, {}, 1e-6, head, at::full({5}, vocabulary, at::kLong), false),
                 UsageError);
  }
}

}  // namespace
}  // namespace shellgame
