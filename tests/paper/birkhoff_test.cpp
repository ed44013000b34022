#include "shellgame/paper/birkhoff.h"

#include <gtest/gtest.h>

#include "shellgame/random/philox.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

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
