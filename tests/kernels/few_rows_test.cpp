#include "shellgame/kernels/few_rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/kernel_checks.h"

namespace shellgame {
namespace {

using testing::StridedRows;

struct Case {
  std::size_t rows, in, first, second;  // two weights of so many rows
  bool scaled = true, based = true;
};

// The definition, in double.
std::vector<double> wanted(const Case& c, const std::vector<double>& x,
                           const std::vector<double>& scale, const std::vector<double>& row_scale,
                           const std::vector<double>& weights, const std::vector<double>& base) {
  const std::size_t out = c.first + c.second;
  std::vector<double> y(c.rows * out);
  for (std::size_t r = 0; r < c.rows; ++r)
    for (std::size_t o = 0; o < out; ++o) {
      double sum = 0;
      for (std::size_t i = 0; i < c.in; ++i)
        sum += x[r * c.in + i] * (c.scaled ? scale[i] : 1) * weights[o * c.in + i];
      y[r * out + o] = (c.based ? base[r * out + o] : 0) + (c.scaled ? row_scale[r] : 1) * sum;
    }
  return y;
}

std::vector<float> run(const Case& c) {
  const std::size_t out = c.first + c.second;
  const auto x = testing::random_values(c.rows * c.in, 1), scale = testing::random_values(c.in, 2),
             row_scale = testing::random_values(c.rows, 3),
             weights = testing::random_values(out * c.in, 4),
             base = testing::random_values(c.rows * out, 5);
  const auto w = testing::to_float(weights), s = testing::to_float(scale),
             rs = testing::to_float(row_scale);
  StridedRows in(c.rows, c.in, 3, x), b(c.rows, out, 1, base), y(c.rows, out, 2);
  const Weight both[] = {{w.data(), static_cast<std::int64_t>(c.first)},
                         {w.data() + c.first * c.in, static_cast<std::int64_t>(c.second)}};
  few_rows_product({.rows = static_cast<std::int64_t>(c.rows),
                    .in = static_cast<std::int64_t>(c.in),
                    .x = in.view(),
                    .scale = c.scaled ? s.data() : nullptr,
                    .row_scale = c.scaled ? rs.data() : nullptr,
                    .weights = both,
                    .base = c.based ? ConstRows(b.view()) : ConstRows{},
                    .y = y.view()});
  EXPECT_TRUE(y.gaps_untouched());
  testing::expect_close(y.dense(), wanted(c, x, scale, row_scale, weights, base), testing::kForward,
                        "y");
  return y.dense();
}

TEST(FewRows, IsTheProductOnEveryTarget) {
  testing::on_every_target([] {
    for (const std::size_t in : {1, 3, 7, 8, 9, 16, 17, 64, 65})
      for (const std::size_t out : {1, 2, 5, 131}) {
        SCOPED_TRACE(fmt::format("{} to {} and 3", in, out));
        run({1, in, out, 3, true, false});
        run({3, in, out, 3, false, true});
      }
  });
}

TEST(FewRows, BitsDoNotDependOnThreads) {
  // Large enough to be shared.
  testing::expect_same_bits_on_any_threads([&] {
    return std::vector<std::vector<float>>{run({2, 400, 500, 77})};
  });
}

TEST(FewRows, ARowDoesNotDependOnTheRowsBesideIt) {
  const std::vector<float> alone = run({1, 40, 9, 2, true, false});
  // The random numbers of one row are the first of three.
  const std::vector<float> three = run({3, 40, 9, 2, true, false});
  EXPECT_EQ(std::vector<float>(three.begin(), three.begin() + 11), alone);
}

}  // namespace
}  // namespace shellgame
