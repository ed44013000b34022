#include "shellgame/evaluate/rank_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using Numbers = std::vector<double>;

// What SciPy and statsmodels say of the same numbers (tests/data/statistics).
const nlohmann::json& recorded() {
  static const nlohmann::json json =
      nlohmann::json::parse(read_file(SHELLGAME_TEST_DATA "/statistics/statistics.json"));
  return json;
}

TEST(MannWhitney, IsThatOfSciPy) {
  int ties = 0;
  for (const auto& one : recorded().at("mann_whitney")) {
    EXPECT_NEAR(mann_whitney_greater(one.at("high").get<Numbers>(), one.at("low").get<Numbers>()),
                one.at("p").get<double>(), 1e-12)
        << one;
    ties += one.at("ties").get<bool>();
  }
  EXPECT_GE(ties, 3);
}

TEST(MannWhitney, CountsTheWaysToDivide) {
  // All above: one way of C(20, 10) = 184,756.
  Numbers high(10), low(10);
  for (int i = 0; i < 10; ++i) {
    high[static_cast<std::size_t>(i)] = 100 + i;
    low[static_cast<std::size_t>(i)] = i;
  }
  EXPECT_NEAR(mann_whitney_greater(high, low), 1 / 184756.0, 1e-18);
  EXPECT_NEAR(mann_whitney_greater(low, high), 1, 1e-12);
  EXPECT_EQ(mann_whitney_greater(Numbers{1, 1}, Numbers{1, 1, 1}), 1);
  EXPECT_THROW(mann_whitney_greater(Numbers{}, low), UsageError);
  EXPECT_THROW(mann_whitney_greater(Numbers{NAN}, low), UsageError);
  EXPECT_THROW(mann_whitney_greater(Numbers(101), Numbers(100)), UsageError);
}

TEST(Holm, IsThatOfStatsmodels) {
  for (const auto& one : recorded().at("holm")) {
    const Numbers found = holm(one.at("p").get<Numbers>());
    const Numbers wanted = one.at("adjusted").get<Numbers>();
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-15);
  }
  EXPECT_TRUE(holm(Numbers{}).empty());
}

TEST(Bootstrap, IntervalsAreThoseOfSciPy) {
  // Of a few numbers a bootstrap's quantiles are some of few values: both find the same.
  for (const auto& one : recorded().at("bootstrap_median")) {
    const Bounds found = bootstrap_median(one.at("numbers").get<Numbers>(), 0.9, 100'000);
    EXPECT_NEAR(found.low, one.at("low").get<double>(), 0.02) << one;
    EXPECT_NEAR(found.high, one.at("high").get<double>(), 0.02) << one;
  }
  for (const auto& one : recorded().at("bootstrap_median_difference")) {
    const Bounds found = bootstrap_median_difference(one.at("a").get<Numbers>(),
                                                     one.at("b").get<Numbers>(), 0.9, 100'000);
    EXPECT_NEAR(found.low, one.at("low").get<double>(), 0.03) << one;
    EXPECT_NEAR(found.high, one.at("high").get<double>(), 0.03) << one;
  }
}

TEST(Bootstrap, IsAPureFunctionOfItsSeed) {
  const Numbers numbers = {0.1, 0.4, 0.2, 0.9, 0.7};
  EXPECT_EQ(bootstrap_median(numbers, 0.9, 100, 3), bootstrap_median(numbers, 0.9, 100, 3));
  EXPECT_EQ(bootstrap_median({0.5, 0.5}, 0.9), (Bounds{0.5, 0.5}));
  EXPECT_THROW(bootstrap_median({}, 0.9), UsageError);
  EXPECT_EQ(median_of(Numbers{3, 1, 2}), 2);
  EXPECT_EQ(median_of(Numbers{4, 1, 2, 3}), 2.5);
}

}  // namespace
}  // namespace shellgame
