#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "shellgame/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/fast_math_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "shellgame/kernels/fast_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void fast_values(const float* x, float* exps, float* sigmoids, float* tanhs) {
  const hn::CappedTag<float, 16> d;
  for (std::size_t i = 0; i < 16; i += hn::Lanes(d)) {
    const auto v = hn::LoadU(d, x + i);
    hn::StoreU(fast::exp(d, v), d, exps + i);
    hn::StoreU(fast::sigmoid(d, v), d, sigmoids + i);
    hn::StoreU(fast::tanh(d, v), d, tanhs + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shellgame {
namespace {

HWY_EXPORT(fast_values);

double relative(float got, double wanted) {
  return std::abs(static_cast<double>(got) - wanted) / std::abs(wanted);
}

TEST(FastMath, RelativeErrorsAreBelow3eMinus7OnEveryTarget) {
  for (const std::string& name : simd_targets()) {
    use_simd_target(name);
    double exp_error = 0, sigmoid_error = 0, tanh_error = 0;
    for (int i = -87000; i < 88000; i += 16) {
      float x[16], e[16], s[16], t[16];
      for (int j = 0; j < 16; ++j) x[j] = static_cast<float>((i + j) * 1e-3 + 1e-7);
      HWY_DYNAMIC_DISPATCH(fast_values)(x, e, s, t);
      for (int j = 0; j < 16; ++j) {
        const double v = x[j];
        exp_error = std::max(exp_error, relative(e[j], std::exp(v)));
        if (v > -86)
          sigmoid_error = std::max(sigmoid_error, relative(s[j], 1 / (1 + std::exp(-v))));
        tanh_error = std::max(tanh_error, relative(t[j], std::tanh(v)));
        const float tiny[16] = {x[j] * 1e-6F};
        float te[16], ts[16], tt[16];
        HWY_DYNAMIC_DISPATCH(fast_values)(tiny, te, ts, tt);
        tanh_error = std::max(tanh_error, relative(tt[0], std::tanh(static_cast<double>(tiny[0]))));
      }
    }
    EXPECT_LT(exp_error, 3e-7) << name;
    EXPECT_LT(sigmoid_error, 3e-7) << name;
    EXPECT_LT(tanh_error, 3e-7) << name;
  }
  use_best_simd_target();
}

TEST(FastMath, EndsOfTheRangeAreFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  const float x[16] = {-inf, -1000, -88, 0, 89, 1000, inf, -0.0F};
  float e[16], s[16], t[16];
  HWY_DYNAMIC_DISPATCH(fast_values)(x, e, s, t);
  EXPECT_EQ(e[0], 0);
  EXPECT_EQ(e[1], 0);
  EXPECT_EQ(e[3], 1);
  EXPECT_GT(e[6], 1e38F);
  EXPECT_EQ(s[6], 1);
  EXPECT_LT(s[0], 1e-37F);
  EXPECT_EQ(s[3], 0.5F);
  EXPECT_EQ(t[0], -1);
  EXPECT_EQ(t[6], 1);
  EXPECT_EQ(t[3], 0);
}

}  // namespace
}  // namespace shellgame
#endif  // HWY_ONCE
