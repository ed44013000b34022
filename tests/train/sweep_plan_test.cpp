#include "shellgame/train/sweep_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

SweepOptions options_in(const ScratchFolder& folder, const std::string& arms = "") {
  write_file(
      folder / "x.toml",
      "[task]\n[model]\nmodel_type = 'delta_net'\n[[stages]]\ncommands = 4\nspacing = 1\n" + arms);
  SweepOptions options;
  options.experiment = folder / "x.toml";
  options.run = "runs";
  return options;
}

TEST(SweepPlan, EveryCombinationOfSettingsHasEverySeed) {
  const ScratchFolder folder;
  SweepOptions options = options_in(folder, "[[arms]]\nname = \"one\"\n[[arms]]\nname = \"two\"\n");
  options.seeds = {0, 3};
  options.from = "models/{seed}";
  options.settings = {"optimiser.clip=1", "stages.0.spacing=[1,2],4"};
  const std::vector<SweepRun> runs = plan_sweep(options);
  ASSERT_EQ(runs.size(), 8u);
  EXPECT_THAT(runs[3].settings,
              testing::ElementsAre("arm=one", "optimiser.clip=1", "stages.0.spacing=4"));
  EXPECT_EQ(runs[3].directory, "runs/arm=one,stages.0.spacing=4/seed-3");
  EXPECT_EQ(runs[3].from, "models/3");
}

TEST(SweepPlan, RunsThatWouldShareADirectoryAreRefused) {
  const ScratchFolder folder;
  SweepOptions options = options_in(folder);
  options.settings = {"optimiser.clip=1,1"};
  EXPECT_THROW(plan_sweep(options), UsageError);
  options.settings = {"seed=4"};
  EXPECT_THROW(plan_sweep(options), UsageError);
}

TEST(SweepPlan, TheCommandThatMakesItAgainNamesWhatWasAsked) {
  SweepOptions options;
  options.experiment = "x.toml";
  options.seeds_text = "0..4";
  options.arms = {"DeltaNet [0,1]"};
  EXPECT_EQ(sweep_command(options),
            "shellgame sweep x.toml --seeds 0..4 --arms 'DeltaNet [0,1]' --run DIR");
}

}  // namespace
}  // namespace shellgame
