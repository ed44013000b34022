#include "shellgame/ops/adamw.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace shellgame
