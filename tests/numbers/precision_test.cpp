// Rounding against NumPy's and ml_dtypes' recorded results, and lives of a halved number.
#include "shellgame/numbers/precision.h"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <map>
#include <sstream>

#include "tests/tokens/golden_files.h"

namespace shellgame {
namespace {

std::vector<std::vector<std::string>> rows(const std::string& name) {
  std::istringstream content(unpack(data_path("rounding/" + name)));
  std::vector<std::vector<std::string>> all;
  for (std::string line; std::getline(content, line);) {
    std::vector<std::string> row;
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t end = std::min(line.find(',', at), line.size());
      row.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    all.push_back(std::move(row));
  }
  return all;
}

const std::map<std::string, Precision> kNames = {{"fp32", Precision::kFp32},
                                                 {"fp16", Precision::kFp16},
                                                 {"bf16", Precision::kBf16},
                                                 {"float8_e4m3fn", Precision::kE4m3},
                                                 {"float8_e5m2", Precision::kE5m2}};

// The same bits, except that one NaN is as good as another.
bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b)
                       : std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

TEST(Precision, CastsAreThoseOfNumPy) {
  const auto all = rows("casts.csv.xz");
  std::size_t compared = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    for (std::size_t column = 1; column < all[i].size(); ++column) {
      if (all[i][column].empty()) continue;  // ml_dtypes rounds twice there
      const double x = std::strtod(all[i][0].c_str(), nullptr);
      const double mine = round_to(kNames.at(all[0][column]), false, x);
      EXPECT_TRUE(same(mine, std::strtod(all[i][column].c_str(), nullptr)))
          << all[0][column] << " of " << all[i][0] << " is " << all[i][column] << ", not " << mine;
      ++compared;
    }
  }
  EXPECT_GT(compared, 15'000u);
}

TEST(Precision, OperationsAreThoseOfNumPy) {
  const auto all = rows("operations.csv.xz");
  ASSERT_GT(all.size(), 2'000u);
  for (std::size_t i = 1; i < all.size(); ++i) {
    with_number(kNames.at(all[i][0]), false, [&]<class Number>(std::type_identity<Number>) {
      const auto a = static_cast<Number>(std::strtod(all[i][1].c_str(), nullptr));
      const auto b = static_cast<Number>(std::strtod(all[i][2].c_str(), nullptr));
      const double mine[] = {static_cast<double>(static_cast<Number>(a + b)),
                             static_cast<double>(static_cast<Number>(a * b)),
                             static_cast<double>(static_cast<Number>(a / b))};
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_TRUE(same(mine[k], std::strtod(all[i][3 + k].c_str(), nullptr)))
            << all[i][0] << " row " << i << " operation " << k << ": " << mine[k];
      }
    });
  }
}

// A number rounded to `digits` binary digits, in whole numbers and without floating point: to
// nearest, ties to even; infinite (or, in e4m3, NaN) where that is above the largest number.
double exactly_rounded(const Format& format, bool flush, double x) {
  if (x == 0) return x;
  const int exponent = std::ilogb(x);  // 2^exponent <= |x| < 2^(exponent + 1)
  const int last = std::max(exponent, format.lowest_exponent) - (format.digits - 1);
  mpq_class units = abs(mpq_class(x));
  mpz_class power = 1;
  power <<= static_cast<unsigned long>(std::abs(last));
  units = last < 0 ? mpq_class(units * power) : mpq_class(units / power);
  mpz_class whole = units.get_num() / units.get_den();
  const mpq_class over = units - whole;
  if (over > mpq_class(1, 2) || (over == mpq_class(1, 2) && whole % 2 != 0)) whole += 1;
  mpq_class result = last < 0 ? mpq_class(whole, power) : mpq_class(whole * power);
  result.canonicalize();
  double size = result.get_d();
  if (result > mpq_class(format.largest))
    size = format.has_infinity ? std::numeric_limits<double>::infinity() : std::nan("");
  else if (flush && size < std::ldexp(1.0, format.lowest_exponent))
    size = 0;
  return std::copysign(size, x);
}

// The middle of each pair of neighbours was wrong nowhere but in one binade of each format, where
// an auxiliary number became infinite.
TEST(Precision, EveryBinadeIsRoundedAsInWholeNumbers) {
  const double fractions[] = {0,
                              0x1p-52,
                              0.5,
                              0.5 + 0x1p-52,
                              0.25,
                              0x1p-8,
                              0x1p-9 + 0x1p-8,
                              0x1p-3,
                              0x1.8p-4,
                              0x1p-12,
                              1 - 0x1p-3,
                              1 - 0x1p-9 - 0x1p-10,
                              1 - 0x1p-52};
  for (Precision precision : kAllPrecisions) {
    const Format format = format_of(precision);
    for (const bool flush : {false, true}) {
      for (int exponent = -1074; exponent <= 1023; ++exponent) {
        for (double fraction : fractions) {
          for (const int sign : {1, -1}) {
            const double x = sign * std::ldexp(1 + fraction, exponent);
            const double mine = round_to(precision, flush, x);
            ASSERT_TRUE(same(mine, exactly_rounded(format, flush, x)))
                << format.name << " of " << x << " (2^" << exponent << ") is " << mine;
          }
        }
      }
    }
  }
}

// The published lives: 24, 133, 149 and 1074 halvings, 126 with flushed subnormals.
TEST(Precision, AHalvedNumberLivesAsLongAsArithmeticSays) {
  const auto lives = [](Precision precision, bool flush) {
    int cycles = -1;
    for (double x = 1; x != 0; x = round_to(precision, flush, x * 0.5)) ++cycles;
    return cycles;
  };
  EXPECT_EQ(lives(Precision::kFp16, false), 24);
  EXPECT_EQ(lives(Precision::kBf16, false), 133);
  EXPECT_EQ(lives(Precision::kFp32, false), 149);
  EXPECT_EQ(lives(Precision::kFp64, false), 1074);
  EXPECT_EQ(lives(Precision::kFp32, true), 126);
  EXPECT_EQ(lives(Precision::kBf16, true), 126);
  EXPECT_EQ(lives(Precision::kFp16, true), 14);
  EXPECT_EQ(lives(Precision::kFp64, true), 1022);
  EXPECT_EQ(lives(Precision::kE4m3, false), 9);
  EXPECT_EQ(lives(Precision::kE5m2, false), 16);
}

}  // namespace
}  // namespace shellgame
