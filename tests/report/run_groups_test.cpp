#include "shellgame/report/run_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace shellgame {
namespace {

RunRecord run_of(const std::string& arm, const std::string& seed, const std::string& rate) {
  RunRecord run;
  run.directory = arm + "/" + seed;
  run.arm = arm;
  run.seed = seed;
  run.settings = {{"arm", arm, 1}, {"seed", seed, 2}, {"rate", rate, 3}};
  return run;
}

TEST(RunGroups, RunsThatDifferInTheSeedAloneAreOneGroup) {
  const std::vector<RunRecord> runs = {run_of("A", "0", "1"), run_of("A", "1", "1"),
                                       run_of("B", "0", "1")};
  const auto groups = groups_of(runs);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].runs.size(), 2u);
  EXPECT_EQ(run_name(groups[0], runs[1]), "A, seed 1");
  EXPECT_EQ(run_name(groups[1], runs[2]), "B");
  EXPECT_THAT(differing_keys(runs), testing::ElementsAre("arm", "seed"));
}

TEST(RunGroups, TheModelThatARunStartedFromMayHaveItsSeed) {
  EXPECT_EQ(without_seed("/runs/a/seed-1/model", "1"), "/runs/a/seed-{seed}/model");
  EXPECT_EQ(without_seed("/runs/a/seed-12", "1"), "/runs/a/seed-12");
  EXPECT_EQ(without_seed("/runs/a/seed-1", "1"), "/runs/a/seed-{seed}");
  std::vector<RunRecord> runs = {run_of("A", "0", "1"), run_of("A", "1", "1"),
                                 run_of("A", "2", "1")};
  runs[0].settings.push_back({"from", "/runs/a/seed-0/model", 4});
  runs[1].settings.push_back({"from", "/runs/a/seed-1/model", 4});
  runs[2].settings.push_back({"from", "/runs/a/seed-1/model", 4});
  ASSERT_EQ(groups_of(runs).size(), 2u);
  EXPECT_EQ(groups_of(runs)[0].runs.size(), 2u);
}

TEST(RunGroups, GroupsAreNamedByWhatTellsThemApart) {
  const std::vector<RunRecord> runs = {run_of("A", "0", "1"), run_of("A", "0", "2")};
  const auto groups = groups_of(runs);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].name, "rate=1");
  EXPECT_EQ(groups[1].name, "rate=2");
}

TEST(RunGroups, AKeyThatSomeRunsLackDiffers) {
  std::vector<RunRecord> runs = {run_of("A", "0", "1"), run_of("A", "0", "1")};
  runs[1].settings.push_back({"extra", "1", 4});
  EXPECT_THAT(differing_keys(runs), testing::ElementsAre("extra"));
}

TEST(RunGroups, ASpreadIsOfTheFiniteValues) {
  const RunSpread spread = run_spread({1, std::nan(""), 3});
  EXPECT_EQ(spread.count, 2u);
  EXPECT_DOUBLE_EQ(spread.mean, 2);
  EXPECT_DOUBLE_EQ(spread.deviation, std::sqrt(2.0));
  EXPECT_TRUE(std::isnan(run_spread({}).mean));
}

}  // namespace
}  // namespace shellgame
