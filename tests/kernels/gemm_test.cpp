#include "shellgame/kernels/gemm.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "shellgame/kernels/norm_linear_reference.h"
#include "tests/support/kernel_checks.h"

namespace shellgame {
namespace {

using testing::StridedRows;

// Small whole numbers: sums are exact, whatever their order.
std::vector<double> whole_numbers(std::size_t size, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> digit(-4, 4);
  std::vector<double> values(size);
  for (double& value : values) value = digit(engine);
  return values;
}

struct Shape {
  std::size_t rows, depth, width;
};

std::vector<Shape> awkward_shapes() {
  std::vector<Shape> shapes;
  for (const std::size_t rows : {1, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 97, 193})
    for (const std::size_t width : {1, 2, 7, 8, 9, 15, 16, 17, 33})
      shapes.push_back({rows, 1 + (rows * 7 + width * 3) % 19, width});
  for (const std::size_t depth : {63, 64, 65, 255, 256, 257, 513})
    shapes.push_back({13, depth, 31});
  shapes.push_back({800, 40, 300});
  shapes.push_back({5, 40, 600});
  return shapes;
}

TEST(Gemm, EqualsTheExactProductOnEveryTarget) {
  testing::on_every_target([] {
    for (const Shape& s : awkward_shapes()) {
      SCOPED_TRACE(fmt::format("{} x {} x {}", s.rows, s.depth, s.width));
      const auto a = whole_numbers(s.rows * s.depth, 1), w = whole_numbers(s.width * s.depth, 2);
      const auto scale = whole_numbers(s.depth, 3);
      auto scaled = reference::transposed(s.width, s.depth, w);
      for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] *= scale[i / s.width];
      const auto wanted = reference::product(s.rows, s.depth, s.width, a, scaled);
      StridedRows left(s.rows, s.depth, 3, a), c(s.rows, s.width, 5);
      const auto weights = testing::to_float(w);
      // Two weights, one below the other.
      const auto first = static_cast<std::int64_t>(s.width / 3),
                 depth = static_cast<std::int64_t>(s.depth);
      const Weight parts[] = {
          {weights.data(), first},
          {weights.data() + first * depth, static_cast<std::int64_t>(s.width) - first}};
      const auto factors = testing::to_float(scale);
      const PackedMatrix packed = PackedMatrix::transposed(parts, depth, factors.data());
      gemm(static_cast<std::int64_t>(s.rows), left.view(), packed, c.view());
      EXPECT_EQ(c.dense(), testing::to_float(wanted));
      EXPECT_TRUE(c.gaps_untouched());
      gemm(static_cast<std::int64_t>(s.rows), left.view(), packed, c.view(), true);
      auto twice = wanted;
      for (double& value : twice) value *= 2;
      EXPECT_EQ(c.dense(), testing::to_float(twice));
      EXPECT_TRUE(c.gaps_untouched());
    }
  });
}

TEST(Gemm, PlainWeightsGiveTheInputsGradient) {
  testing::on_every_target([] {
    for (const Shape& s : awkward_shapes()) {
      SCOPED_TRACE(fmt::format("{} x {} x {}", s.rows, s.depth, s.width));
      const auto dy = whole_numbers(s.rows * s.depth, 1), w = whole_numbers(s.depth * s.width, 2);
      const auto wanted = reference::product(s.rows, s.depth, s.width, dy, w);
      StridedRows left(s.rows, s.depth, 1, dy), c(s.rows, s.width, 2);
      const auto weights = testing::to_float(w);
      const Weight whole = {weights.data(), static_cast<std::int64_t>(s.depth)};
      gemm(static_cast<std::int64_t>(s.rows), left.view(),
           PackedMatrix::plain({&whole, 1}, static_cast<std::int64_t>(s.width)), c.view());
      EXPECT_EQ(c.dense(), testing::to_float(wanted));
      EXPECT_TRUE(c.gaps_untouched());
    }
  });
}

TEST(Gemm, TransposedLeftSumsOverRows) {
  testing::on_every_target([] {
    for (const Shape& s : awkward_shapes()) {
      SCOPED_TRACE(fmt::format("{} x {} x {}", s.rows, s.depth, s.width));
      const auto left = whole_numbers(s.rows * s.width, 1),
                 right = whole_numbers(s.rows * s.depth, 2);
      const auto wanted = reference::product(s.width, s.rows, s.depth,
                                             reference::transposed(s.rows, s.width, left), right);
      // A stride of 128 floats takes the path that copies.
      StridedRows l(s.rows, s.width, s.width < 128 ? 128 - s.width : 0, left);
      StridedRows r(s.rows, s.depth, 1, right);
      auto g = testing::poisoned(wanted.size());
      const auto rows = static_cast<std::int64_t>(s.rows),
                 width = static_cast<std::int64_t>(s.width),
                 depth = static_cast<std::int64_t>(s.depth);
      gemm_tn(rows, l.view(), width, r.view(), depth, g.data());
      EXPECT_EQ(g, testing::to_float(wanted));
      gemm_tn(rows, l.view(), width, r.view(), depth, g.data(), true);
      auto twice = wanted;
      for (double& value : twice) value *= 2;
      EXPECT_EQ(g, testing::to_float(twice));
    }
  });
}

TEST(Gemm, SumsTooLargeForACopyPerChunkAreExactToo) {
  const std::size_t rows = 2000, width = 600, depth = 500;
  const auto left = whole_numbers(rows * width, 1), right = whole_numbers(rows * depth, 2);
  const auto wanted =
      reference::product(width, rows, depth, reference::transposed(rows, width, left), right);
  StridedRows l(rows, width, 0, left), r(rows, depth, 0, right);
  auto g = testing::poisoned(wanted.size());
  gemm_tn(2000, l.view(), 600, r.view(), 500, g.data());
  EXPECT_EQ(g, testing::to_float(wanted));
}

TEST(Gemm, BitsDoNotDependOnThreads) {
  for (const Shape& s : {Shape{1000, 65, 130}, Shape{300, 700, 600}, Shape{20, 64, 2000}}) {
    StridedRows a(s.rows, s.depth, 0, testing::random_values(s.rows * s.depth, 1));
    StridedRows dy(s.rows, s.width, 0, testing::random_values(s.rows * s.width, 3));
    const auto w = testing::to_float(testing::random_values(s.width * s.depth, 2));
    testing::expect_same_bits_on_any_threads([&] {
      StridedRows c(s.rows, s.width, 0);
      const auto rows = static_cast<std::int64_t>(s.rows),
                 width = static_cast<std::int64_t>(s.width),
                 depth = static_cast<std::int64_t>(s.depth);
      const Weight whole = {w.data(), width};
      gemm(rows, a.view(), PackedMatrix::transposed({&whole, 1}, depth), c.view());
      auto g = testing::poisoned(s.width * s.depth);
      gemm_tn(rows, dy.view(), width, a.view(), depth, g.data());
      return std::vector<std::vector<float>>{c.dense(), g};
    });
  }
}

}  // namespace
}  // namespace shellgame
