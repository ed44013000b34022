#include "shellgame/train/schedule.h"

#include <gtest/gtest.h>

namespace shellgame {
namespace {

Experiment two_stages(const std::string& more) {
  return parse_experiment(more + R"(
[model]
model_type = "delta_net"
[[stages]]
steps = 40
[[stages]]
steps = 60
)",
                          "x.toml", {"optimiser.learning-rate=0.1"});
}

TEST(Schedule, RisesInALineThenFallsByACosineToTheMinimum) {
  const Experiment e = two_stages("[schedule]\nwarmup = 9\nminimum = 0.2\n");
  EXPECT_NEAR(learning_rate_at(e, {0, 0, 0}), 0.01, 1e-12);
  EXPECT_NEAR(learning_rate_at(e, {0, 4, 4}), 0.05, 1e-12);
  EXPECT_NEAR(learning_rate_at(e, {0, 9, 9}), 0.1, 1e-12);
  // Half way between 9 and 100 steps.
  const double half = learning_rate_at(e, {1, 14, 54}), next = learning_rate_at(e, {1, 15, 55});
  EXPECT_NEAR((half + next) / 2, 0.1 * 0.6, 1e-5);
  EXPECT_NEAR(learning_rate_at(e, {1, 60, 100}), 0.02, 1e-12);
}

TEST(Schedule, AWarmUpBelowOneIsAShareOfAllSteps) {
  const Experiment e = two_stages("[schedule]\nwarmup = 0.1\nshape = \"constant\"\n");
  EXPECT_NEAR(learning_rate_at(e, {0, 0, 0}), 0.1 / 11, 1e-12);
  EXPECT_NEAR(learning_rate_at(e, {0, 10, 10}), 0.1, 1e-12);
}

TEST(Schedule, AStageMayHaveItsOwnRateAndShape) {
  Experiment e = two_stages("[schedule]\nwarmup = 0\nshape = \"constant\"\n");
  e.stages[1].learning_rate = 0.5;
  e.stages[1].shape = "cosine";
  e.stages[1].minimum = 0;
  EXPECT_EQ(learning_rate_at(e, {0, 30, 30}), 0.1);
  EXPECT_NEAR(learning_rate_at(e, {1, 0, 40}), 0.5, 1e-12);
  EXPECT_NEAR(learning_rate_at(e, {1, 30, 70}), 0.25, 1e-12);
}

}  // namespace
}  // namespace shellgame
