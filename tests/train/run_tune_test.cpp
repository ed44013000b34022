#include "shellgame/train/run_tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "shellgame/train/experiment.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

std::string tuned_experiment(const std::string& tune) {
  return "[task]\ngroup = 'S3'\nmoves = 'swaps'\n[model]\nmodel_type = 'delta_net'\n[evaluation]\n"
         "commands = 64\nspacing = 1\n[[stages]]\ncommands = 4\nspacing = 1\nsteps = "
         "100\n[[stages]]\ncommands = 8\nspacing = [1, 2]\nsteps = 50\n" +
         tune;
}

TuneOptions tune_in(const ScratchFolder& folder, const std::string& tune) {
  write_file(folder / "x.toml", tuned_experiment(tune));
  TuneOptions options;
  options.experiment = folder / "x.toml";
  options.run = "trials";
  options.trials = 2;
  options.budget = 10;
  return options;
}

TEST(Trials, AreJudgedAtTheTrainedLengthWithSeedsOfTheirOwn) {
  const ScratchFolder folder;
  const TuneOptions options =
      tune_in(folder,
              "[tune]\nshare = 0.1\nselect = 'accuracy'\n[tune.space]\ninit = ['torch', "
              "'fla']\n[[arms]]\nname = 'a b'\n[[arms]]\nname = 'c'\n");
  const std::vector<SweepRun> runs = plan_trials(options);
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_EQ(runs[1].directory, "trials/a_b/trial-1");
  EXPECT_EQ(runs[3].seed, 101u);
  // The same draws for every arm, other than the arm's name.
  EXPECT_TRUE(std::equal(runs[0].settings.begin() + 1, runs[0].settings.end(),
                         runs[2].settings.begin() + 1));
  std::vector<std::string> changes = runs[0].settings;
  changes.push_back("seed=100");
  const Experiment trial = read_experiment(options.experiment, changes);
  EXPECT_EQ(trial.evaluation.axes.at("commands"), std::vector<std::string>{"8"});
  EXPECT_EQ(trial.evaluation.seed, 100u);
  EXPECT_EQ(trial.stages[0].steps, 10);
  EXPECT_EQ(trial.stages[1].steps, 5);
  EXPECT_EQ(trial.budget, 5);
}

TEST(Trials, ASpaceThatChangesWhatIsJudgedIsRefused) {
  const ScratchFolder folder;
  for (const char* space :
       {"'stages.1.commands' = [8, 16]", "'task.group' = ['S4']", "'evaluation.count' = [2, 4]"}) {
    const TuneOptions options =
        tune_in(folder, fmt::format("[tune]\n[tune.space]\n{}\ninit = ['torch', 'fla']", space));
    EXPECT_THROW(plan_trials(options), InputError) << space;
  }
  TuneOptions options =
      tune_in(folder, "seed = 1\n[tune]\nseed = 0\n[tune.space]\ninit = ['torch', 'fla']");
  write_file(options.experiment, "seed = 1\n" + tuned_experiment("[tune]\nseed = 0\n[tune.space]\n"
                                                                 "init = ['torch', 'fla']"));
  EXPECT_THROW(plan_trials(options), InputError);
  options.arms = {"x"};
  EXPECT_THROW(plan_trials(options), UsageError);
}

}  // namespace
}  // namespace shellgame
