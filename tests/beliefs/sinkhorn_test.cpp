#include "shellgame/beliefs/sinkhorn.h"

#include <gtest/gtest.h>

#include "shellgame/random/philox.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

TEST(Sinkhorn, MakesAPositiveMatrixDoublyStochastic) {
  RandomStream stream(1, 0, Lane::kSequence);
  for (std::size_t n : {1u, 2u, 5u, 9u}) {
    std::vector<double> matrix(n * n);
    for (double& x : matrix) x = 1e-9 + stream.unit();
    const Sinkhorn result = sinkhorn(matrix, n, 1e-12, 10'000);
    EXPECT_LE(result.residual, 1e-12);
    for (std::size_t i = 0; i < n; ++i) {
      double row = 0, column = 0;
      for (std::size_t j = 0; j < n; ++j) {
        row += result.matrix[i * n + j];
        column += result.matrix[j * n + i];
      }
      EXPECT_NEAR(row, 1, 1e-11);
      EXPECT_NEAR(column, 1, 1e-11);
    }
  }
}

// [[a, b], [c, d]] has the limit x on the diagonal with x^2 / (1-x)^2 = ad / bc.
TEST(Sinkhorn, FindsTheKnownLimitOfTwoByTwo) {
  const Sinkhorn result = sinkhorn({4, 1, 1, 1}, 2, 1e-14, 10'000);
  EXPECT_NEAR(result.matrix[0], 2.0 / 3, 1e-12);
  EXPECT_NEAR(result.matrix[1], 1.0 / 3, 1e-12);
}

TEST(Sinkhorn, AVanishedRowIsAnError) {
  EXPECT_THROW(sinkhorn({1, 0, 0, 0}, 2, 1e-12, 100), Error);
  EXPECT_THROW(sinkhorn({1, 0, 1, 0}, 2, 1e-12, 100), Error);
}

}  // namespace
}  // namespace shellgame
