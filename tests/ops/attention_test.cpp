// Attention by its kernel against the composed form in double.
#include "shellgame/ops/attention.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "shellgame/ops/engine.h"
#include "tests/ops/rms_ratio.h"

namespace shellgame {
namespace {

struct AttentionShape {
  std::int64_t batch, time, past, heads, groups, key_width, value_width, window;
};

class AttentionShapes : public testing::TestWithParam<AttentionShape> {};

TEST_P(AttentionShapes, KernelAndComposedFormAgree) {
  const AttentionShape s = GetParam();
  at::manual_seed(1);
  const std::int64_t places = s.past + s.time;
  // Queries as a slice of a wider projection, as models give them.
  const at::Tensor wide = at::randn({s.batch, s.time, s.heads * s.key_width + 24});
  const auto slice = [&](const at::Tensor& x) {
    return x.narrow(2, 8, s.heads * s.key_width).unflatten(2, {s.heads, s.key_width});
  };
  const at::Tensor k = at::randn({s.batch, places, s.groups, s.key_width});
  const at::Tensor v = at::randn({s.batch, places, s.groups, s.value_width});
  const at::Tensor upstream = at::randn({s.batch, s.time, s.heads, s.value_width});
  const auto run = [&](at::ScalarType type) {
    std::vector<at::Tensor> inputs;
    for (const at::Tensor& x : {wide, k, v})
      inputs.push_back(x.to(type, false, true).requires_grad_());
    const at::Tensor o = attention(slice(inputs[0]), inputs[1], inputs[2], 0.3, s.window);
    std::vector<at::Tensor> all = torch::autograd::grad({o}, inputs, {upstream.to(type)});
    all.push_back(o.detach());
    return all;
  };
  const auto got = run(at::kFloat), wanted = run(at::kDouble);
  const char* const names[] = {"dq", "dk", "dv", "o"};
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_GT(wanted[i].abs().max().item<double>(), 0) << names[i];
    EXPECT_LT(rms_ratio(got[i], wanted[i]), i == 3 ? 1e-5 : 1e-4) << names[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Each, AttentionShapes,
                         testing::Values(AttentionShape{2, 70, 0, 2, 2, 32, 32, 0},
                                         AttentionShape{1, 300, 17, 4, 2, 16, 8, 0},
                                         AttentionShape{3, 1, 40, 4, 1, 32, 32, 0},
                                         AttentionShape{1, 200, 0, 2, 1, 8, 8, 60},
                                         AttentionShape{2, 600, 5, 1, 1, 8, 16, 9}));

TEST(Attention, AGradientThatIsOneNumberWorks) {
  at::manual_seed(2);
  const at::Tensor q = at::randn({1, 20, 2, 8}).requires_grad_();
  const at::Tensor v = at::randn({1, 20, 2, 8}).requires_grad_();
  // Of a sum, the gradient comes as one number spread over the shape; weights sum to one.
  const auto gradients = torch::autograd::grad({attention(q, q, v, 0.5, 0).sum()}, {q, v});
  EXPECT_NEAR(gradients[1].sum().item<double>(), 20 * 2 * 8, 1e-3);
}

TEST(Attention, NothingIsKeptWithoutGradients) {
  const at::NoGradGuard guard;
  const at::Tensor q = at::randn({1, 20, 2, 8}).requires_grad_();
  EXPECT_FALSE(attention(q, q, q, 0.5, 0).requires_grad());
}

}  // namespace
}  // namespace shellgame
