#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "shellgame/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/fast_math_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "shellgame/kernels/fast_math-inl.h"
#include "shellgame/kernels/vector_math-inl.h"

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

// The same functions of vector_math; `pairs` has the sigmoids that are made two at a time.
void vector_values(const float* x, float* exps, float* sigmoids, float* pairs) {
  const hn::CappedTag<float, 16> d;
  for (std::size_t i = 0; i < 16; i += hn::Lanes(d)) {
    const auto v = hn::LoadU(d, x + i);
    hn::StoreU(fast_exp(d, v), d, exps + i);
    hn::StoreU(fast_sigmoid(d, v), d, sigmoids + i);
    auto first = v, second = v;
    fast_sigmoids(d, v, hn::Zero(d), first, second);
    hn::StoreU(first, d, pairs + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shellgame {
namespace {

HWY_EXPORT(fast_values);
HWY_EXPORT(vector_values);

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

// Also one with a payload, of either sign: a file may hold any.
TEST(FastMath, NaNGivesANaNOnEveryTarget) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  float x[16] = {nan, -nan};
  for (std::uint32_t i = 2; i < 16; ++i)
    x[i] = std::bit_cast<float>((i % 2 == 0 ? 0x7fc00000U : 0xffc00000U) + i * 0x41235U);
  x[14] = std::bit_cast<float>(0x7fffffffU);
  x[15] = std::bit_cast<float>(0xffffffffU);
  for (const std::string& name : simd_targets()) {
    use_simd_target(name);
    float e[16], s[16], t[16], ve[16], vs[16], vp[16];
    HWY_DYNAMIC_DISPATCH(fast_values)(x, e, s, t);
    HWY_DYNAMIC_DISPATCH(vector_values)(x, ve, vs, vp);
    for (int i = 0; i < 16; ++i) {
      EXPECT_TRUE(std::isnan(e[i])) << name << " exp " << i << ": " << e[i];
      EXPECT_TRUE(std::isnan(s[i])) << name << " sigmoid " << i << ": " << s[i];
      EXPECT_TRUE(std::isnan(t[i])) << name << " tanh " << i << ": " << t[i];
      EXPECT_TRUE(std::isnan(ve[i])) << name << " fast_exp " << i << ": " << ve[i];
      EXPECT_TRUE(std::isnan(vs[i])) << name << " fast_sigmoid " << i << ": " << vs[i];
      EXPECT_TRUE(std::isnan(vp[i])) << name << " fast_sigmoids " << i << ": " << vp[i];
    }
  }
  use_best_simd_target();
}

TEST(FastMath, ANaNStaysInItsLane) {
  for (const std::string& name : simd_targets()) {
    use_simd_target(name);
    const float x[16] = {1, std::numeric_limits<float>::quiet_NaN(), 1, 1, 1, 1, 1, 1, 1};
    float e[16], s[16], t[16], ve[16], vs[16], vp[16];
    HWY_DYNAMIC_DISPATCH(fast_values)(x, e, s, t);
    HWY_DYNAMIC_DISPATCH(vector_values)(x, ve, vs, vp);
    for (const float* values : {e, ve}) EXPECT_NEAR(values[0], std::exp(1.0), 1e-6) << name;
    for (const float* values : {s, vs, vp})
      EXPECT_NEAR(values[2], 1 / (1 + std::exp(-1.0)), 1e-6) << name;
  }
  use_best_simd_target();
}

}  // namespace
}  // namespace shellgame
#endif  // HWY_ONCE
