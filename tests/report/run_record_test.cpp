#include "shellgame/report/run_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/text/error.h"
#include "tests/report/small_run.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Message and exit code of what reading the directory throws.
std::pair<std::string, int> failure_of(const std::string& directory) {
  try {
    read_runs({directory});
  } catch (const Error& error) {
    return {error.what(), error.exit_code()};
  }
  return {"nothing", 0};
}

TEST(RunRecord, HoldsWhatTheFilesHold) {
  const ScratchFolder folder;
  write_small_run(folder / "run", {.more = "eps = 1e-08"});
  const RunRecord run = read_run(folder / "run");
  EXPECT_TRUE(run.complete());
  EXPECT_EQ(run.name, "small");
  EXPECT_EQ(run.seed, "0");
  EXPECT_EQ(run.checkpoint, 4);
  EXPECT_THAT(run.course.tokens, testing::ElementsAre(100, 200, 300, 400, 500, 600));
  ASSERT_EQ(run.settings.size(), 7u);
  const auto stage = std::ranges::find(run.settings, "stages.0.commands", &Setting::key);
  ASSERT_NE(stage, run.settings.end());
  EXPECT_EQ(stage->value, "[2, 4]");
  EXPECT_EQ(stage->line, 9u);
}

TEST(RunRecord, ASweepIsItsRunsInTheOrderOfTheirNumbers) {
  const ScratchFolder folder;
  for (const int seed : {10, 2, 0})
    write_small_run(folder / fmt::format("sweep/arm=B/seed-{}", seed), {.seed = seed});
  write_file(folder / "sweep/sweep.json", R"({"command": "shellgame sweep x"})");
  // The same run twice is one run.
  const auto runs = read_runs({folder / "sweep", folder / "sweep/arm=B/seed-2"});
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].seed, "0");
  EXPECT_EQ(runs[1].seed, "2");
  EXPECT_EQ(runs[2].seed, "10");
  EXPECT_EQ(runs[0].sweep_command, "shellgame sweep x");
}

TEST(RunRecord, AnUnfinishedRunHasItsMetricsWithoutATornLine) {
  const ScratchFolder folder;
  write_small_run(folder / "run", {.complete = false});
  const std::string path = folder / "run/metrics.jsonl";
  write_file(path, read_file(path) + R"({"step": 7, "lo)");
  const RunRecord run = read_run(folder / "run");
  EXPECT_FALSE(run.complete());
  EXPECT_EQ(run.course.step.size(), 6u);
  std::filesystem::remove(path);  // before the first step
  EXPECT_TRUE(read_run(folder / "run").course.step.empty());
}

TEST(RunRecord, DamagedAndMissingFilesAreNamedInOneSentence) {
  const ScratchFolder folder;
  const auto with = [&](const std::string& file, const std::string& content) {
    write_small_run(folder / "run", {});
    write_file(folder / ("run/" + file), content);
    return failure_of(folder / "run");
  };
  for (const char* file : {"result.json", "evaluation.json", "environment.json"}) {
    const auto [sentence, code] = with(file, "{\"steps\": 1");
    EXPECT_THAT(sentence, HasSubstr(file + std::string(":1:12: the text must be JSON")));
    EXPECT_EQ(code, 2);
  }
  EXPECT_THAT(with("evaluation.json", "{}").first, HasSubstr("must be a list of cells"));
  EXPECT_THAT(with("evaluation.json", "[1]").first, HasSubstr("must be a list of cells"));
  EXPECT_THAT(with("result.json", "[]").first, HasSubstr("must be a JSON object"));
  EXPECT_THAT(with("experiment.toml", "seed = = 1").first, HasSubstr("experiment.toml:1:8"));
  write_small_run(folder / "run", {});
  std::filesystem::remove(folder / "run/metrics.jsonl");
  EXPECT_THAT(failure_of(folder / "run").first, HasSubstr("metrics.jsonl"));
  EXPECT_EQ(failure_of(folder / "run").second, 1);
}

TEST(RunRecord, ADamagedLineOfMetricsCostsOnlyItself) {
  const ScratchFolder folder;
  write_small_run(folder / "run", {});
  write_file(folder / "run/metrics.jsonl",
             "{\"step\": 1}\n{\"st\n{\"step\": \"x\"}\n{\"step\": 4}\n{\"step\": 5");
  const RunRecord run = read_run(folder / "run");
  EXPECT_EQ(run.course.step, (std::vector<double>{1, 4}));
  ASSERT_EQ(run.passed_over.size(), 2u);
  EXPECT_THAT(run.passed_over[0], HasSubstr("metrics.jsonl:2:"));
  EXPECT_THAT(run.passed_over[1], HasSubstr("metrics.jsonl:3: a line of metrics must have"));
}

TEST(RunRecord, WhatIsNoRunIsWrongUse) {
  const ScratchFolder folder;
  EXPECT_THAT(failure_of(folder.path()).first, HasSubstr("there is no experiment.toml"));
  EXPECT_EQ(failure_of(folder.path()).second, 2);
  EXPECT_THAT(failure_of(folder / "none").first, HasSubstr("is not a directory"));
  EXPECT_EQ(failure_of(folder / "none").second, 2);
}

}  // namespace
}  // namespace shellgame
