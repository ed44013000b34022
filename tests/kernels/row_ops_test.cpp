#include "shellgame/kernels/row_ops.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "shellgame/kernels/row_ops_reference.h"
#include "shellgame/text/error.h"
#include "tests/support/kernel_checks.h"

namespace shellgame {
namespace {

using testing::Complex;
using testing::StridedRows;

const std::vector<std::size_t> kSizes = {1, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65};

struct NormOutputs {
  std::vector<float> y, dx, d_weight;
};

NormOutputs run_norm(std::size_t rows, std::size_t width, const std::vector<double>& x,
                     const std::vector<double>& weight, const std::vector<double>& dy,
                     const std::vector<double>& residual) {
  StridedRows in(rows, width, 2, x), out(rows, width, 1), d_out(rows, width, 3, dy);
  StridedRows added(rows, width, 0, residual), d_in(rows, width, 5);
  const auto w = testing::to_float(weight);
  auto rstd = testing::poisoned(rows);
  NormOutputs o;
  o.d_weight = testing::poisoned(width);
  const auto r = static_cast<std::int64_t>(rows), n = static_cast<std::int64_t>(width);
  rms_norm(r, n, in.view(), w.data(), 1e-5F, out.view(), rstd.data());
  rms_norm_backward(r, n, in.view(), w.data(), rstd.data(), d_out.view(), added.view(), d_in.view(),
                    o.d_weight.data());
  EXPECT_TRUE(out.gaps_untouched() && d_in.gaps_untouched());
  o.y = out.dense();
  o.dx = d_in.dense();
  return o;
}

TEST(RowOps, RmsNormFollowsTheReferenceOnEveryTarget) {
  testing::on_every_target([] {
    for (const std::size_t width : kSizes)
      for (const std::size_t rows : {1, 97}) {
        SCOPED_TRACE(fmt::format("{} x {}", rows, width));
        const auto x = testing::random_values(rows * width, 1),
                   weight = testing::random_values(width, 2),
                   dy = testing::random_values(rows * width, 3),
                   residual = testing::random_values(rows * width, 4);
        const NormOutputs o = run_norm(rows, width, x, weight, dy, residual);
        const auto y = reference::rms_norm(rows, width, x, weight, 1e-5);
        auto d = reference::rms_norm_backward(rows, width, x, weight, y.rstd, dy);
        for (std::size_t i = 0; i < d.x.size(); ++i) d.x[i] += residual[i];
        testing::expect_close(o.y, y.y, testing::kForward, "y");
        testing::expect_gradient(o.dx, d.x, "dx");
        testing::expect_gradient(o.d_weight, d.weight, "d_weight");
      }
  });
}

TEST(RowOps, RopeFollowsTheReferenceAndItsBackwardUndoesIt) {
  testing::on_every_target([] {
    for (const std::size_t width : {2, 6, 16, 34, 64}) {
      const std::size_t rows = 22, time = 11, heads = 3, offset = 5;
      const auto x = testing::random_values(rows * heads * width, 1);
      StridedRows in(rows, heads * width, 1, x), out(rows, heads * width, 2);
      // The table may begin anywhere before the first position.
      const RopeTable table(width % 4 == 0 ? 5 : 2, 14, static_cast<std::int64_t>(width), 10000);
      const RopeShape shape = {22, 11, 3, 5};
      rope(table, shape, in.view(), out.view());
      testing::expect_close(out.dense(),
                            reference::rope(rows, time, heads, width, offset, 10000, x),
                            testing::kForward, "y");
      EXPECT_TRUE(out.gaps_untouched());
      rope_backward(table, shape, out.view(), out.view());  // in place
      testing::expect_close(out.dense(), x, testing::kForward, "there and back");
    }
  });
}

// The rotation is orthogonal, so the reference with sign -1 is its derivative's transpose.
TEST(RowOps, RopesReferenceGradientAgreesWithComplexStep) {
  const auto x = testing::random_values(2 * 3 * 4, 1), dy = testing::random_values(2 * 3 * 4, 2);
  testing::expect_complex_step(
      x, reference::rope(2, 2, 3, 4, 1, 100, dy, -1),
      [&](auto& v) { return testing::dot(reference::rope(2, 2, 3, 4, 1, 100, v), dy); }, "x");
}

TEST(RowOps, RopeRefusesPositionsBeyondItsTable) {
  const RopeTable table(3, 4, 8, 10000);
  std::vector<float> x(5 * 8);
  const Rows rows = {x.data(), 8};
  EXPECT_NO_THROW(rope(table, {4, 4, 1, 3}, rows, rows));
  EXPECT_THROW(rope(table, {5, 5, 1, 3}, rows, rows), UsageError);
  EXPECT_THROW(rope(table, {4, 4, 1, 2}, rows, rows), UsageError);
  EXPECT_THROW(RopeTable(0, 4, 7, 10000), UsageError);
}

TEST(RowOps, EmbeddingGradientSumsRowsById) {
  testing::on_every_target([] {
    // One id has more rows than a segment holds, most have none.
    const std::size_t rows = 3000, width = 17, vocabulary = 50;
    std::vector<std::int64_t> ids(rows);
    for (std::size_t r = 0; r < rows; ++r) ids[r] = r % 3 == 0 ? 7 : static_cast<int>(r % 20);
    const auto dy = testing::random_values(rows * width, 1);
    StridedRows d(rows, width, 3, dy);
    auto table = testing::poisoned(vocabulary * width);
    embedding_gradient(3000, 17, 50, ids.data(), d.view(), table.data());
    testing::expect_gradient(table, reference::embedding_gradient(width, vocabulary, ids, dy),
                             "table");
    for (std::size_t j = 0; j < width; ++j) EXPECT_EQ(table[30 * width + j], 0);
    ids[5] = 50;
    EXPECT_THROW(embedding_gradient(3000, 17, 50, ids.data(), d.view(), table.data()), UsageError);
  });
}

TEST(RowOps, BitsDoNotDependOnThreads) {
  const std::size_t rows = 3000, width = 40;
  const auto x = testing::random_values(rows * width, 1), weight = testing::random_values(width, 2),
             dy = testing::random_values(rows * width, 3);
  std::vector<std::int64_t> ids(rows);
  for (std::size_t r = 0; r < rows; ++r) ids[r] = static_cast<std::int64_t>(r * r % 9);
  testing::expect_same_bits_on_any_threads([&] {
    const NormOutputs o = run_norm(rows, width, x, weight, dy, x);
    StridedRows d(rows, width, 0, dy);
    auto table = testing::poisoned(9 * width);
    embedding_gradient(3000, 40, 9, ids.data(), d.view(), table.data());
    return std::vector<std::vector<float>>{o.y, o.dx, o.d_weight, table};
  });
}

}  // namespace
}  // namespace shellgame
