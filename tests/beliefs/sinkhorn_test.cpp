#include "shellgame/beliefs/sinkhorn.h"

#include <gtest/gtest.h>

#include "shellgame/beliefs/birkhoff.h"
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

TEST(Birkhoff, RebuildsTheMatrixFromFewPermutations) {
  RandomStream stream(2, 0, Lane::kSequence);
  for (int round = 0; round < 100; ++round) {
    const std::size_t n = 1 + stream.below(6);
    // A random mixture of permutations, in exact fractions.
    std::vector<Rational> matrix(n * n);
    for (int k = 0; k < 8; ++k) {
      std::vector<std::size_t> order(n);
      for (std::size_t i = 0; i < n; ++i) order[i] = i;
      for (std::size_t i = n; i-- > 1;)
        std::swap(order[i], order[stream.below(static_cast<std::uint32_t>(i + 1))]);
      for (std::size_t i = 0; i < n; ++i) matrix[i * n + order[i]] += Rational(k + 1) / 36;
    }
    std::vector<Rational> rebuilt(n * n);
    const auto terms = birkhoff(matrix, n);
    EXPECT_LE(terms.size(), (n - 1) * (n - 1) + 1);
    for (const BirkhoffTerm& term : terms) {
      EXPECT_GT(term.weight, 0);
      for (std::size_t i = 0; i < n; ++i) rebuilt[i * n + term.column[i]] += term.weight;
    }
    EXPECT_EQ(rebuilt, matrix);
  }
  EXPECT_THROW(birkhoff({1, 1, 0, 0}, 2), UsageError);
}

}  // namespace
}  // namespace shellgame
