#include "shellgame/train/tune_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "shellgame/train/experiment.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

TuneTrial trial_of(const std::string& arm, std::uint64_t number, std::optional<double> score) {
  TuneTrial trial{.arm = arm, .trial = number, .score = score};
  trial.draw.settings = {fmt::format("x={}", number)};
  return trial;
}

TEST(TuneResults, TheBestOfAnArmIsTheLowestRegretOrTheHighestAccuracy) {
  TuneResults results{.trials = 3};
  results.all = {trial_of("a", 0, 0.5),          trial_of("a", 1, 0.2),
                 trial_of("a", 2, 0.2),          trial_of("b", 0, std::nullopt),
                 trial_of("c", 0, std::nullopt), trial_of("c", 1, 0.9)};
  ASSERT_EQ(results.best().size(), 2u);
  EXPECT_EQ(results.best()[0]->trial, 1u);
  EXPECT_EQ(results.best()[1]->arm, "c");
  results.space.select = "accuracy";
  EXPECT_EQ(results.best()[0]->trial, 0u);
}

TEST(TuneResults, ASweepTakesTheBestSettingsAndOtherSeeds) {
  const ScratchFolder folder;
  write_file(folder / "x.toml",
             "[task]\n[model]\nmodel_type = 'delta_net'\n[[stages]]\nsteps = 1\n[[arms]]\nname = "
             "'a'\n[[arms]]\nname = 'b'\n");
  TuneResults results{.trials = 2};
  results.all = {trial_of("a", 0, 0.5), trial_of("a", 1, 0.2), trial_of("b", 0, 0.1),
                 trial_of("b", 1, 0.3)};
  write_file(folder / "tune.json", tune_json(results).dump());
  SweepOptions options;
  options.experiment = folder / "x.toml";
  options.run = "runs";
  options.tuned = folder / "tune.json";
  options.settings = {"optimiser.clip=2"};
  const std::vector<SweepRun> runs = plan_sweep(options);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_THAT(runs[0].settings, ::testing::ElementsAre("arm=a", "x=1", "optimiser.clip=2"));
  EXPECT_THAT(runs[1].settings, ::testing::ElementsAre("arm=b", "x=0", "optimiser.clip=2"));
  EXPECT_EQ(runs[0].directory, "runs/arm=a/seed-0");
  options.seeds = {0, 101};
  EXPECT_THROW(plan_sweep(options), UsageError);  // a trial's seed
  options.seeds = {0, 102};
  EXPECT_EQ(plan_sweep(options).size(), 4u);
  write_file(folder / "tune.json", "{\"best\": 3}");
  EXPECT_THROW(plan_sweep(options), InputError);
}

}  // namespace
}  // namespace shellgame
