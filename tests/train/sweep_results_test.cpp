#include "shellgame/train/sweep_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A finished run with one cell, as `shellgame train` leaves it.
void make_run(const std::string& run, double accuracy, const std::string& simd) {
  std::filesystem::create_directories(run);
  write_file(run + "/result.json",
             R"({"parameters": 7, "tokens": 100, "steps": 3, "seconds": 2.5, "accuracy": 0.5})");
  write_file(run + "/evaluation.json",
             fmt::format(R"([{{"commands": 8, "spacing": 2, "accuracy": {}, "chance": 0.25,
               "first_failure_median": {}, "positions": [{{"accuracy": 1.0}}]}}])",
                         accuracy, accuracy < 1 ? "4" : "null"));
  write_file(run + "/environment.json",
             fmt::format(R"([{{"started": "2026", "command": "shellgame train {}", "commit": "abc",
               "simd": "{}"}}])",
                         run, simd));
}

struct Sweep {
  ScratchFolder folder;
  SweepOptions options;
  std::vector<SweepRun> runs;

  explicit Sweep(const std::vector<std::string>& simds) {
    options.experiment = "x.toml";
    options.run = folder.path();
    options.from = "models/{seed}";
    for (std::size_t seed = 0; seed < simds.size(); ++seed) {
      runs.push_back({.settings = {"a=1"},
                      .seed = seed,
                      .directory = folder / ("seed-" + std::to_string(seed)),
                      .from = "models/" + std::to_string(seed)});
      make_run(runs.back().directory, seed == 0 ? 1 : 0.5, simds[seed]);
    }
  }
};

TEST(SweepResults, RowsWhoseEnvironmentsDifferSaySoInTextAndJson) {
  Sweep sweep({"AVX2", "AVX3", "AVX2"});
  const SweepResults results = gather_sweep(sweep.options, sweep.runs);
  const SweepJson json = sweep_json(results);
  EXPECT_EQ(json["environments"].size(), 2u);
  EXPECT_EQ(json["runs"][0]["environments"], SweepJson::parse("[[0], [1], [0]]"));
  EXPECT_THAT(results.differences, ElementsAre("simd: \"AVX2\" in 2 runs, \"AVX3\" in 1"));
  EXPECT_EQ(json["differences"].size(), 1u);
  EXPECT_THAT(sweep_text(results), HasSubstr("not made alike"));
  EXPECT_THAT(sweep_text(results), HasSubstr("simd: \"AVX2\" in 2 runs, \"AVX3\" in 1"));
  Sweep alike({"AVX2", "AVX2"});
  EXPECT_THAT(sweep_text(gather_sweep(alike.options, alike.runs)), Not(HasSubstr("alike")));
}

TEST(SweepResults, ARunThatWentOnElsewhereNamesBothEnvironments) {
  Sweep sweep({"AVX2"});
  write_file(sweep.runs[0].directory + "/environment.json",
             R"([{"simd": "AVX2", "command": "one"}, {"simd": "AVX3", "command": "two"}])");
  const SweepResults results = gather_sweep(sweep.options, sweep.runs);
  EXPECT_THAT(results.entries[0].rows[0].environments, ElementsAre(0, 1));
  EXPECT_EQ(results.entries[0].rows[0].command, "two");
  EXPECT_EQ(results.differences.size(), 1u);
}

TEST(SweepResults, EveryRowSaysItsSeedItsCommandAndTheModelItStartedFrom) {
  Sweep sweep({"AVX2", "AVX2"});
  const SweepJson entry = sweep_json(gather_sweep(sweep.options, sweep.runs))["runs"][0];
  EXPECT_EQ(entry["seeds"], SweepJson({0, 1}));
  EXPECT_EQ(entry["from"], SweepJson({"models/0", "models/1"}));
  EXPECT_THAT(entry["commands"][1].get<std::string>(), HasSubstr("seed-1"));
  EXPECT_EQ(entry["started"], SweepJson({"2026", "2026"}));
  EXPECT_EQ(entry["parameters"], 7);
}

TEST(SweepResults, AMeasureThatARowLacksIsNullThere) {
  Sweep sweep({"AVX2", "AVX2"});
  const SweepJson cell = sweep_json(gather_sweep(sweep.options, sweep.runs))["runs"][0]["cells"][0];
  EXPECT_EQ(cell["name"], "(8,2)");
  EXPECT_EQ(cell["accuracy"], SweepJson::parse("[1.0, 0.5]"));
  EXPECT_EQ(cell["first_failure_median"], SweepJson::parse("[null, 4]"));
  EXPECT_EQ(cell["by_position"], SweepJson::parse("[[1.0], [1.0]]"));
}

TEST(SweepResults, ADamagedResultIsAFailureWithItsReason) {
  Sweep sweep({"AVX2", "AVX2"});
  write_file(sweep.runs[1].directory + "/result.json", R"({"tokens": "many"})");
  write_file(sweep.runs[0].directory + "/environment.json", "{");  // no reason to lose a run
  const SweepResults results = gather_sweep(sweep.options, sweep.runs);
  EXPECT_TRUE(any_failed(results));
  ASSERT_EQ(results.entries[0].rows.size(), 1u);
  EXPECT_THAT(results.entries[0].failed[0].why, HasSubstr("must be an object of numbers"));
  EXPECT_THAT(sweep_text(results), HasSubstr("seed 1 failed"));
  EXPECT_DOUBLE_EQ(common_chance(results), 0.25);
  EXPECT_THROW(read_run_result(sweep.runs[1].directory), InputError);
}

}  // namespace
}  // namespace shellgame
