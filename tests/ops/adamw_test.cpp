#include "shellgame/ops/adamw.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "shellgame/ops/engine.h"

namespace shellgame {
namespace {

// The last value of one number under torch.optim.AdamW(lr=0.1, betas=(0.9, 0.95), eps=1e-8,
// weight_decay=0.1) with gradients 0.5, -1, 2: PyTorch 2.13, double.
constexpr double kTorchValue = 0.8670344184598191;

void steps(AdamW& optimiser, at::Tensor& x) {
  for (const double gradient : {0.5, -1.0, 2.0}) {
    x.mutable_grad() = at::full_like(x, gradient);
    optimiser.step(0.1);
  }
}

TEST(AdamW, IsTorchs) {
  for (const Engine kind : {Engine::kKernels, Engine::kComposed}) {
    const EngineScope engine(kind);
    at::Tensor x = at::ones({5}).requires_grad_();
    AdamW optimiser({x}, {true},
                    {.beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .decay = 0.1, .clip = 0});
    steps(optimiser, x);
    EXPECT_NEAR(x[0].item<double>(), kTorchValue, 1e-6);
  }
}

TEST(AdamW, ClipsTheWholeGradient) {
  for (const Engine kind : {Engine::kKernels, Engine::kComposed}) {
    const EngineScope engine(kind);
    at::Tensor x = at::zeros({2}).requires_grad_(), y = at::zeros({1}).requires_grad_();
    AdamW optimiser({x, y}, {false, false},
                    {.beta1 = 0, .beta2 = 0, .eps = 1, .decay = 0, .clip = 1});
    x.mutable_grad() = at::tensor({2.0F, 4.0F});
    y.mutable_grad() = at::tensor({4.0F});
    EXPECT_NEAR(optimiser.step(1), 6, 1e-6);  // |(2, 4, 4)|
    // Clipped to (1/3, 2/3, 2/3): a step of g / (|g| + 1).
    EXPECT_NEAR(x[0].item<double>(), -0.25, 1e-6);
    EXPECT_NEAR(y[0].item<double>(), -0.4, 1e-6);
  }
}

TEST(AdamW, ANormThatIsNotFiniteChangesNothing) {
  for (const Engine kind : {Engine::kKernels, Engine::kComposed}) {
    const EngineScope engine(kind);
    at::Tensor x = at::ones({2}).requires_grad_();
    AdamW optimiser({x}, {true}, {});
    x.mutable_grad() = at::tensor({1.0F, INFINITY});
    EXPECT_FALSE(std::isfinite(optimiser.step(1)));
    EXPECT_EQ(x[0].item<float>(), 1);
    EXPECT_EQ(optimiser.steps(), 0);
  }
}

TEST(AdamW, AGroupHasItsOwnDecayAndRate) {
  for (const Engine kind : {Engine::kKernels, Engine::kComposed}) {
    const EngineScope engine(kind);
    at::Tensor x = at::ones({1}).requires_grad_(), y = at::ones({1}).requires_grad_();
    AdamW optimiser({x, y}, {true, true}, {.decay = 0, .clip = 0});
    optimiser.set_group(1, 0.5, 0.1);
    x.mutable_grad() = at::ones({1});
    y.mutable_grad() = at::ones({1});
    optimiser.step(0.1);  // a first step is the learning rate long
    EXPECT_NEAR(x[0].item<double>(), 0.9, 1e-6);
    EXPECT_NEAR(y[0].item<double>(), 1 - 0.01 * 0.5 - 0.01, 1e-6);
  }
}

}  // namespace
}  // namespace shellgame
