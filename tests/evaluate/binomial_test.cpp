#include "shellgame/evaluate/binomial.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// The chance of `from` to `to` successes, term by term.
double tail(std::uint64_t from, std::uint64_t to, std::uint64_t trials, double p) {
  double sum = 0;
  for (std::uint64_t k = from; k <= to; ++k) {
    const auto n = static_cast<double>(trials), x = static_cast<double>(k);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) +
                    x * std::log(p) + (n - x) * std::log1p(-p));
  }
  return sum;
}

// Numbers of scipy.stats.binomtest(k, n).proportion_ci(confidence, "exact"), SciPy 1.17.
TEST(Binomial, BoundsAreThoseOfSciPy) {
  struct Case {
    std::uint64_t k, n;
    double confidence, low, high;
  };
  for (const Case& c : {Case{0, 10, .95, 0, 0.30849710781876294},
                        {10, 10, .95, 0.6915028921812371, 1},
                        {5, 10, .95, 0.1870860284474045, 0.8129139715525955},
                        {1, 10, .95, 0.0025285785444625728, 0.44501611702819543},
                        {7, 8, .99, 0.3684828603592382, 0.9993736285246274},
                        {998, 1000, .95, 0.9927941610880622, 0.9997576988831184},
                        {523000, 524288, .95, 0.9974055932155497, 0.9976755317126327},
                        {1, 1, .9, 0.05, 1}}) {
    const Bounds bounds = binomial_bounds(c.k, c.n, c.confidence);
    EXPECT_NEAR(bounds.low, c.low, 1e-11) << c.k << " of " << c.n;
    EXPECT_NEAR(bounds.high, c.high, 1e-11) << c.k << " of " << c.n;
  }
}

// scipy.special.betainc.
TEST(Binomial, IncompleteBetaIsThatOfSciPy) {
  EXPECT_NEAR(incomplete_beta(.5, .5, .3), 0.36901011956554536, 1e-14);
  EXPECT_NEAR(incomplete_beta(2, 3, .4), 0.5248, 1e-14);
  EXPECT_NEAR(incomplete_beta(200, 300, .41), 0.677628164772179, 1e-12);
  EXPECT_NEAR(incomplete_beta(1, 10, .05), 0.4012630607616211, 1e-14);
  EXPECT_NEAR(incomplete_beta(500001, 1289, .9973), 0.037660193069191245, 1e-8);
  EXPECT_EQ(incomplete_beta(2, 2, 0), 0);
  EXPECT_EQ(incomplete_beta(2, 2, 1), 1);
}

RC_GTEST_PROP(Binomial, AtEachBoundTheTailIsHalfOfWhatIsLeft, ()) {
  const auto n = *rc::gen::inRange<std::uint64_t>(1, 400);
  const auto k = *rc::gen::inRange<std::uint64_t>(0, n + 1);
  const double confidence = *rc::gen::element(.5, .9, .95, .999);
  const Bounds bounds = binomial_bounds(k, n, confidence);
  const double half = (1 - confidence) / 2;
  RC_ASSERT(bounds.low <= static_cast<double>(k) / static_cast<double>(n));
  RC_ASSERT(bounds.high >= static_cast<double>(k) / static_cast<double>(n));
  if (k > 0) RC_ASSERT(std::abs(tail(k, n, n, bounds.low) - half) < 1e-9);
  if (k < n) RC_ASSERT(std::abs(tail(0, k, n, bounds.high) - half) < 1e-9);
}

// Quantiles of Student's distribution from printed tables.
TEST(Binomial, StudentsQuantilesAreThoseOfTheTables) {
  EXPECT_NEAR(student_quantile(0.975, 9), 2.262157, 1e-6);
  EXPECT_NEAR(student_quantile(0.975, 1), 12.706205, 1e-5);
  EXPECT_NEAR(student_quantile(0.95, 30), 1.697261, 1e-6);
  EXPECT_NEAR(student_quantile(0.975, 1e6), 1.959966, 1e-5);
  EXPECT_NEAR(student_quantile(0.025, 9), -2.262157, 1e-6);
  EXPECT_DOUBLE_EQ(student_quantile(0.5, 3), 0);
}

TEST(Binomial, TrialsOfOneEachAreIndependent) {
  const std::vector<Cluster> ones = {{1, 1}, {0, 1}, {1, 1}, {1, 1}};
  EXPECT_EQ(clustered_bounds(ones), binomial_bounds(3, 4));
}

// All trials of a cluster alike: only clusters count, and somewhat fewer than there are.
TEST(Binomial, TrialsThatRepeatEachOtherCountOnce) {
  std::vector<Cluster> clusters;
  for (int i = 0; i < 40; ++i) clusters.push_back({i < 30 ? 50u : 0u, 50});
  const Bounds found = clustered_bounds(clusters), as_clusters = binomial_bounds(30, 40);
  EXPECT_LE(found.low, as_clusters.low);
  EXPECT_GE(found.high, as_clusters.high);
  EXPECT_NEAR(found.low, as_clusters.low, 0.02);
  EXPECT_NEAR(found.high, as_clusters.high, 0.02);
  const Bounds naive = binomial_bounds(1500, 2000);
  EXPECT_GT(found.high - found.low, 4 * (naive.high - naive.low));
}

// As many right in each cluster: no evidence that they hang together, and none that all are right
// in clusters that were not seen.
TEST(Binomial, ClustersWithoutASpreadCountOnceEach) {
  const std::vector<Cluster> all(16, Cluster{8, 8});
  EXPECT_EQ(clustered_bounds(all), binomial_bounds(16, 16));
  EXPECT_EQ(clustered_bounds(std::vector<Cluster>{}), (Bounds{0, 1}));
  EXPECT_THROW(clustered_bounds(std::vector<Cluster>{{3, 2}}), UsageError);
}

// Bounds of independent trials in clusters are about those of the trials.
TEST(Binomial, IndependentTrialsInClustersLoseLittle) {
  std::mt19937 random(7);
  std::bernoulli_distribution right(0.7);
  int covered = 0, tries = 400;
  double width = 0, plain = 0;
  for (int i = 0; i < tries; ++i) {
    std::vector<Cluster> clusters(30, Cluster{0, 10});
    std::uint64_t sum = 0;
    for (Cluster& cluster : clusters) {
      for (int k = 0; k < 10; ++k) cluster.right += right(random) ? 1 : 0;
      sum += cluster.right;
    }
    const Bounds bounds = clustered_bounds(clusters), exact = binomial_bounds(sum, 300);
    covered += bounds.low <= 0.7 && 0.7 <= bounds.high;
    width += bounds.high - bounds.low;
    plain += exact.high - exact.low;
  }
  EXPECT_GE(covered, 0.93 * tries);
  EXPECT_LT(width, 1.2 * plain);
}

TEST(Binomial, NoTrialsSayNothing) { EXPECT_EQ(binomial_bounds(0, 0), (Bounds{0, 1})); }

TEST(Binomial, WrongCountsAreRefused) {
  EXPECT_THROW(binomial_bounds(3, 2), UsageError);
  EXPECT_THROW(binomial_bounds(1, 2, 1), UsageError);
}

TEST(Spread, IsThatOfASample) {
  const Spread spread = spread_of(std::vector<double>{2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_DOUBLE_EQ(spread.mean, 5);
  EXPECT_DOUBLE_EQ(spread.deviation, std::sqrt(32.0 / 7));
  EXPECT_EQ(spread_of(std::vector<double>{3}).deviation, 0);
  EXPECT_THROW(spread_of({}), UsageError);
}

}  // namespace
}  // namespace shellgame
