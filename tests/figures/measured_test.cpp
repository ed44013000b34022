#include "shellgame/figures/measured.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

constexpr const char* kExperiment = R"toml(name = "little"
[task]
group = "S3"
[model]
model_type = "delta_net"
allow_neg_eigval = true
[[stages]]
commands = 8
spacing = 2
)toml";

constexpr const char* kCells =
    R"json([{"commands": 8, "spacing": 2, "accuracy": 0.75, "final_accuracy": 0.5, "positions": [
 {"first": 1, "last": 1, "accuracy": 1.0}, {"first": 2, "last": 2, "accuracy": 0.5}]}])json";

void make_run(const std::string& run, int seed) {
  std::filesystem::create_directories(run);
  write_file(run + "/experiment.toml", fmt::format("seed = {}\n{}", seed, kExperiment));
  write_file(run + "/result.json", R"({"parameters": 7})");
  write_file(run + "/evaluation.json", kCells);
}

TEST(Measured, RunsOfTheSameSettingsAreOneSetBySeed) {
  const ScratchFolder folder;
  make_run(folder / "deep/a", 0);
  make_run(folder / "b", 1);
  make_run(folder / "again", 1);  // counted once
  std::filesystem::create_directories(folder / "unfinished");
  write_file(folder / "unfinished/experiment.toml", kExperiment);
  const auto found = measured_of_runs(folder.path());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].label, "DeltaNet [-1,1]");
  EXPECT_EQ(found[0].group, "S3");
  EXPECT_EQ(found[0].trained, (Cell2{8, 2}));
  EXPECT_THAT(found[0].seeds, testing::UnorderedElementsAre(0, 1));
  const MeasuredCell& cell = found[0].cells.at({8, 2});
  EXPECT_THAT(cell.accuracy, testing::ElementsAre(0.75, 0.75));
  EXPECT_THAT(cell.final_accuracy, testing::ElementsAre(0.5, 0.5));
  EXPECT_THAT(cell.by_position[0], testing::ElementsAre(1.0, 0.5));
  EXPECT_THROW(measured_of_runs(folder / "nowhere"), Error);
}

TEST(Measured, ModelsAreCalledByTheirKindAndRange) {
  const auto label = [](const std::string& model) {
    return model_label(parse_experiment(
        "[task]\n[[stages]]\ncommands = 4\nspacing = 1\n[model]\n" + model, "one"));
  };
  EXPECT_EQ(label("model_type = 'delta_net'"), "DeltaNet [0,1]");
  EXPECT_EQ(label("model_type = 'gated_deltaproduct'\nuse_forget_gate = false\n"
                  "num_householder = 2\nallow_neg_eigval = true"),
            "DeltaProduct [-1,1], 2 steps");
  EXPECT_EQ(label("model_type = 'transformer'"), "Transformer");
  EXPECT_EQ(label("model_type = 'shellgame_lstm'"), "shellgame_lstm");
}

TEST(Measured, PublishedTablesAreReadWithTheirExperiment) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / "little");
  write_file(folder / "little/experiment.toml", kExperiment);
  write_file(folder / "little/results.json",
             R"json({"experiment": "experiments/little/experiment.toml", "runs": [
    {"settings": ["model.allow_neg_eigval=false"], "seeds": [0, 1], "parameters": 7, "cells": [
      {"commands": 8, "spacing": 2, "accuracy": [0.5, 0.75], "final_accuracy": [0.25, 1.0],
       "by_position": [[1.0], [0.5]]}]}]})json");
  const auto found = measured_of_results(folder.path());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].label, "DeltaNet [0,1]");
  EXPECT_THAT(found[0].cells.at({8, 2}).final_accuracy, testing::ElementsAre(0.25, 1.0));
  write_file(folder / "little/results.json", "[]");
  EXPECT_THROW(measured_of_results(folder.path()), InputError);
}

TEST(Measured, TheRepositorysOwnResultsAreRead) {
  const auto found = measured_of_results(SHELLGAME_SOURCE_DIR "/experiments");
  const auto streams = std::ranges::find(found, "s5-streams", &Measured::experiment);
  ASSERT_NE(streams, found.end());
  EXPECT_EQ(streams->label, "DeltaNet [-1,1]");
  EXPECT_EQ(streams->cells.at({16384, 8}).accuracy.size(), 5u);
}

TEST(Measured, AComparisonHasSeveralArchitecturesOfOneExperiment) {
  Measured one;
  one.experiment = "a";
  one.label = "DeltaNet [-1,1]";
  one.group = "S5";
  one.seeds = {0, 1, 2};
  const auto any = [](const Measured&) { return true; };
  EXPECT_TRUE(best_comparison({one}, any).empty());
  Measured two = one, other = one;
  two.label = "Transformer";
  two.seeds = {0};
  other.label = "Transformer";
  other.experiment = "b";
  const auto best = best_comparison({one, other, two}, any);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].experiment, "a");
  EXPECT_EQ(best[1].experiment, "a");
}

TEST(Measured, ASpreadGoesFromWorstToBest) {
  const SeedSpread spread = seed_spread({0.5, 1, 0.75});
  EXPECT_DOUBLE_EQ(spread.mean, 0.75);
  EXPECT_DOUBLE_EQ(spread.least, 0.5);
  EXPECT_DOUBLE_EQ(spread.most, 1);
  EXPECT_THROW(seed_spread({}), UsageError);
}

}  // namespace
}  // namespace shellgame
