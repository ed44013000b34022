#include "shellgame/train/sweep_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shellgame {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SweepStatistics, ASpreadIsTheMeanAndTheDeviationOfASample) {
  const SweepSpread spread = sweep_spread({1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(spread.mean, 2.5);
  EXPECT_NEAR(spread.deviation, 1.2909944487358056, 1e-15);  // sqrt(5 / 3)
  EXPECT_DOUBLE_EQ(sweep_spread({7}).mean, 7);
  EXPECT_EQ(sweep_spread({7}).deviation, 0);
  EXPECT_EQ(sweep_spread({}).mean, 0);
}

TEST(SweepStatistics, EveryKeyInWhichEnvironmentsDifferIsNamedWithItsRuns) {
  const SweepJson first = {{"commit", "a"}, {"simd", "AVX2"}, {"threads", 1}};
  SweepJson second = first;
  EXPECT_THAT(environments_that_differ({first}, {5}), IsEmpty());
  second["simd"] = "AVX3";
  second["blas"] = "Haswell";
  EXPECT_THAT(environments_that_differ({first, second}, {3, 1}),
              ElementsAre("simd: \"AVX2\" in 3 runs, \"AVX3\" in 1",
                          "blas: null in 3 runs, \"Haswell\" in 1"));
}

}  // namespace
}  // namespace shellgame
