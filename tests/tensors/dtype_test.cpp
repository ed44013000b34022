#include "shellgame/tensors/dtype.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// A 16-bit format by its definition, and the functions under test.
struct Small {
  int exponent_bits, fraction_bits;
  float (*widen)(std::uint16_t);
  std::uint16_t (*from_float)(float);
  std::uint16_t (*from_double)(double);

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  std::uint16_t infinity() const {
    return static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
  }
  double value(std::uint16_t bits) const {
    const int exponent = (bits & 0x7FFF) >> fraction_bits;
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1)
      return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
    if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias() - fraction_bits);
    return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias() - fraction_bits);
  }
};

const Small kF16 = {5, 10, float_from_f16, f16_from_float, f16_from_double};
const Small kBf16 = {8, 7, float_from_bf16, bf16_from_float, bf16_from_double};

class SmallFloats : public testing::TestWithParam<Small> {};
// Without it the name of a test would hold addresses.
void PrintTo(const Small& small, std::ostream* out) {
  *out << small.exponent_bits << "_" << small.fraction_bits;
}
INSTANTIATE_TEST_SUITE_P(Dtype, SmallFloats, testing::Values(kF16, kBf16));

TEST_P(SmallFloats, EveryPatternHasItsValueAndComesBack) {
  const Small& small = GetParam();
  for (unsigned pattern = 0; pattern < 65536; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const double expected = small.value(bits);
    const float wide = small.widen(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(wide)) << pattern;
      ASSERT_TRUE(std::isnan(small.value(small.from_float(wide)))) << pattern;
      ASSERT_TRUE(std::isnan(small.value(small.from_double(wide)))) << pattern;
      ASSERT_EQ(std::signbit(wide), (pattern & 0x8000) != 0) << pattern;
      continue;
    }
    ASSERT_EQ(static_cast<double>(wide), expected) << pattern;
    ASSERT_EQ(std::signbit(wide), (pattern & 0x8000) != 0) << pattern;
    ASSERT_EQ(small.from_float(wide), bits);
    ASSERT_EQ(small.from_double(expected), bits);
  }
}

// Between neighbours a < b everything below the middle is a and everything above is b; the middle
// itself goes to the even one. Above the largest number the "neighbour" is infinity's place.
TEST_P(SmallFloats, RoundingIsToNearestWithTiesToEven) {
  const Small& small = GetParam();
  const float up = std::numeric_limits<float>::infinity();
  for (unsigned pattern = 0; pattern < small.infinity(); ++pattern) {
    const auto low = static_cast<std::uint16_t>(pattern),
               high = static_cast<std::uint16_t>(low + 1);
    const double a = small.value(low);
    const double step = high == small.infinity()
                            ? a - small.value(static_cast<std::uint16_t>(low - 1))
                            : small.value(high) - a;
    const double middle = a + step / 2;
    const std::uint16_t even = low % 2 == 0 ? low : high;
    for (const int sign : {1, -1}) {
      const auto mark = static_cast<std::uint16_t>(sign < 0 ? 0x8000 : 0);
      ASSERT_EQ(small.from_double(sign * middle), even | mark);
      ASSERT_EQ(small.from_double(sign * std::nextafter(middle, 0.0)), low | mark);
      ASSERT_EQ(small.from_double(sign * std::nextafter(middle, 1e300)), high | mark);
      const auto narrow = static_cast<float>(middle);
      if (static_cast<double>(narrow) != middle) continue;  // half of BF16's smallest: not in fp32
      ASSERT_EQ(small.from_float(static_cast<float>(sign) * narrow), even | mark);
      ASSERT_EQ(small.from_float(static_cast<float>(sign) * std::nextafter(narrow, 0.0f)),
                low | mark);
      ASSERT_EQ(small.from_float(static_cast<float>(sign) * std::nextafter(narrow, up)),
                high | mark);
    }
  }
}

// In fp32 the number below is the middle of two fp16 numbers, which would round down to even.
TEST_P(SmallFloats, DoublesAreRoundedOnce) {
  const Small& small = GetParam();
  const double middle = 1 + std::ldexp(1, -small.fraction_bits - 1);
  EXPECT_EQ(small.from_double(middle + 0x1p-40), small.from_double(1.0) + 1);
  EXPECT_EQ(small.from_float(static_cast<float>(middle + 0x1p-40)), small.from_double(1.0));
}

TEST_P(SmallFloats, WhatIsTooLargeIsInfinite) {
  const Small& small = GetParam();
  for (const double x : {1e39, 1e300, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(small.from_double(x), small.infinity());
    EXPECT_EQ(small.from_double(-x), small.infinity() | 0x8000);
  }
  EXPECT_EQ(small.from_double(1e-300), 0);
  EXPECT_EQ(small.from_double(-1e-300), 0x8000);
  EXPECT_EQ(small.from_double(5e-324), 0);
}

// The pattern nearest to x, by a search among the values of all patterns: no arithmetic of the
// format's own. Distances to neighbours are exact, or both far below what decides.
std::uint16_t nearest_pattern(const Small& small, double x) {
  const double size = std::abs(x);
  unsigned low = 0, high = small.infinity();  // value(low) <= size < value(high), as numbers go
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    (small.value(static_cast<std::uint16_t>(middle)) <= size ? low : high) = middle;
  }
  const double a = small.value(static_cast<std::uint16_t>(low));
  // Infinity takes the place of the next number.
  const double b = high == small.infinity()
                       ? 2 * a - small.value(static_cast<std::uint16_t>(low - 1))
                       : small.value(static_cast<std::uint16_t>(high));
  const double down = size - a, up = b - size;
  const bool rises = std::isinf(size) || down > up || (down == up && low % 2 == 1);
  return static_cast<std::uint16_t>((rises ? high : low) | (std::signbit(x) ? 0x8000u : 0u));
}

TEST_P(SmallFloats, EveryBinadeOfADoubleGoesToTheNearestPattern) {
  const Small& small = GetParam();
  for (int exponent = -1074; exponent <= 1023; ++exponent) {
    for (double fraction : {0.0, 0x1p-52, 0.5, 0x1p-8, 0x1.8p-8, 0x1p-11, 0x1.8p-11, 0x1p-10, 0.75,
                            1 - 0x1p-9, 1 - 0x1p-12, 1 - 0x1p-52}) {
      for (const int sign : {1, -1}) {
        const double x = sign * std::ldexp(1 + fraction, exponent);
        ASSERT_EQ(small.from_double(x), nearest_pattern(small, x)) << x << ", 2^" << exponent;
        const auto narrow = static_cast<float>(x);
        ASSERT_EQ(small.from_float(narrow), nearest_pattern(small, narrow)) << narrow;
      }
    }
  }
}

#if defined(__x86_64__)
__attribute__((target("f16c"))) std::uint16_t machine_f16(float x) {
  return _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT);
}
__attribute__((target("f16c"))) float machine_float(std::uint16_t x) { return _cvtsh_ss(x); }

TEST(Dtype, F16IsWhatTheMachineComputes) {
  if (!__builtin_cpu_supports("f16c")) GTEST_SKIP() << "this machine has no F16C";
  for (unsigned pattern = 0; pattern < 65536; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const float mine = float_from_f16(bits), machine = machine_float(bits);
    if (std::isnan(machine)) {
      ASSERT_TRUE(std::isnan(mine));
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(mine), std::bit_cast<std::uint32_t>(machine));
    }
  }
  std::uint64_t compared = 0;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 1009, ++compared) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    ASSERT_EQ(f16_from_float(x), machine_f16(x)) << bits;
  }
  EXPECT_GT(compared, 4'000'000u);
}
#endif

TEST(Dtype, NamesAndSizesBelongTogether) {
  for (int i = 0; i < 16; ++i) {
    const auto dtype = static_cast<Dtype>(i);
    EXPECT_EQ(parse_dtype(dtype_name(dtype)), dtype);
  }
  EXPECT_EQ(dtype_size(Dtype::kBool), 1u);
  EXPECT_EQ(dtype_size(Dtype::kBf16), 2u);
  EXPECT_EQ(dtype_size(Dtype::kF32), 4u);
  EXPECT_EQ(dtype_size(Dtype::kU64), 8u);
  EXPECT_EQ(parse_dtype("F4"), std::nullopt);
  EXPECT_EQ(parse_dtype("f32"), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
}

TEST(Dtype, EveryPairConvertsWithoutAlignment) {
  const std::vector<double> values = {0.0, -1.5, 3.140625, 65504, -0x1p-14, 0x1p-24};
  const std::array<Dtype, 4> types = {Dtype::kF64, Dtype::kF32, Dtype::kBf16, Dtype::kF16};
  for (const Dtype from : types) {
    for (const Dtype to : types) {
      std::vector<char> a(1 + 8 * values.size()), b(a.size());
      convert(Dtype::kF64, values.data(), from, a.data() + 1, values.size());
      convert(from, a.data() + 1, to, b.data() + 1, values.size());
      std::vector<double> back(values.size());
      convert(to, b.data() + 1, Dtype::kF64, back.data(), values.size());
      const bool coarse = from == Dtype::kBf16 || to == Dtype::kBf16;
      const std::vector<double> expected = {0.0,      -1.5,   3.140625, coarse ? 65536.0 : 65504.0,
                                            -0x1p-14, 0x1p-24};
      for (std::size_t i = 0; i < values.size(); ++i) {
        const bool beyond = from == Dtype::kBf16 && to == Dtype::kF16 && i == 3;  // 65536
        EXPECT_EQ(back[i], beyond ? std::numeric_limits<double>::infinity() : expected[i])
            << dtype_name(from) << " to " << dtype_name(to) << ", " << values[i];
      }
    }
  }
}

TEST(Dtype, OtherTypesAreCopiedButNotConverted) {
  const std::int64_t x = 7;
  std::int64_t y = 0;
  convert(Dtype::kI64, &x, Dtype::kI64, &y, 1);
  EXPECT_EQ(y, 7);
  EXPECT_THROW(convert(Dtype::kI64, &x, Dtype::kF64, &y, 1), UsageError);
  EXPECT_THROW(convert(Dtype::kF64, &x, Dtype::kF8E4m3, &y, 1), UsageError);
}

}  // namespace
}  // namespace shellgame
