#include "shellgame/report/sweep_charts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "shellgame/system/files.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

Json results() {
  return Json::parse(R"json({"runs": [
    {"settings": ["arm=A", "seed-like=1"], "directories": ["a0", "a1"], "cells": [
      {"name": "(8,2)", "commands": 8, "spacing": 2, "accuracy": [0.5, 0.75], "by_position": [[1, 0], [0.5, 0.5]]},
      {"name": "(16,2)", "commands": 16, "spacing": 2, "accuracy": [0.25, 0.75]},
      {"name": "(16,4)", "commands": 16, "spacing": 4, "accuracy": [0, 0]}]
},
    {"settings": [], "directories": [], "cells": []}]
})json");
}

TEST(SweepCharts, ACurveIsTheMeanWithABandFromWorstToBest) {
  const LineChart chart =
      cells_chart(results(), "commands", "spacing", 2, {.title = "t", .note = ""});
  EXPECT_EQ(chart.title, "t, spacing 2");
  EXPECT_EQ(cells_chart(results(), "length", "", 0, {.title = "t", .note = ""}).title, "t");
  ASSERT_EQ(chart.curves.size(), 1u);
  EXPECT_EQ(chart.curves[0].name, "A seed-like=1");
  EXPECT_THAT(chart.curves[0].x, testing::ElementsAre(8, 16));
  EXPECT_THAT(chart.curves[0].y, testing::ElementsAre(0.625, 0.5));
  EXPECT_THAT(chart.curves[0].low, testing::ElementsAre(0.5, 0.25));
  EXPECT_THAT(chart.curves[0].high, testing::ElementsAre(0.75, 0.75));
}

TEST(SweepCharts, MarksAreTheTrainedSegmentAndTheLongestStream) {
  Json all = results();
  all["runs"][0]["cells"][0]["trained"] = {{"axis", "commands"}, {"segment", 8}, {"longest", 16}};
  all["runs"][0]["cells"][1]["trained"] = all["runs"][0]["cells"][0]["trained"];
  const LineChart chart = cells_chart(all, "commands", "spacing", 2, {.title = "", .note = ""});
  using Mark = std::pair<double, std::string>;
  EXPECT_THAT(chart.marks, testing::ElementsAre(Mark(8, "segment"), Mark(16, "stream")));
  EXPECT_THAT(cells_chart(all, "spacing", "commands", 16, {.title = "", .note = ""}).marks,
              testing::IsEmpty());
  for (Json& cell : all["runs"][0]["cells"])
    cell["trained"] = {{"axis", "commands"}, {"segment", 8}, {"longest", 8}};
  EXPECT_THAT(cells_chart(all, "commands", "spacing", 2, {.title = "", .note = ""}).marks,
              testing::ElementsAre(Mark(8, "trained")));
}

TEST(SweepCharts, WhatHasNoPlaceOrNoNumberIsLeftOut) {
  const Json drawn = Json::parse(R"json({"runs": [{"settings": [], "directories": ["a"], "cells": [
      {"name": "length 3-12", "length": "3-12", "accuracy": [0.5]},
      {"name": "length 40", "length": 40, "accuracy": [0.25]}]}]})json");
  const LineChart lengths = cells_chart(drawn, "length", "", 0, {.title = "", .note = ""});
  EXPECT_THAT(lengths.curves[0].x, testing::ElementsAre(40));
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / "a");
  write_file(folder / "a/metrics.jsonl",
             "{\"step\": 1, \"loss\": 1, \"accuracy\": null, \"tokens\": 100}\n"
             "{\"step\": 2, \"loss\": 1, \"accuracy\": 0.5, \"tokens\": 200}\n");
  const LineChart course = training_chart(drawn, folder.path(), {.title = "", .note = ""}, 2);
  ASSERT_EQ(course.curves.size(), 1u);
  EXPECT_DOUBLE_EQ(course.curves[0].y.back(), 0.5);
}

TEST(SweepCharts, RevealsStandByTheirPlace) {
  const LineChart chart = reveals_chart(results(), 0, {.title = "", .note = ""});
  EXPECT_THAT(chart.curves[0].y, testing::ElementsAre(0.75, 0.25));
}

TEST(SweepCharts, CoursesOfDifferentLengthsMeetAtEqualTokens) {
  const ScratchFolder folder;
  for (const auto& [name, steps] : {std::pair("a0", 2), std::pair("a1", 4)}) {
    std::filesystem::create_directories(folder / name);
    std::string lines;
    for (int i = 1; i <= steps; ++i)
      lines +=
          Json{{"step", i}, {"loss", 1}, {"accuracy", i == steps ? 1.0 : 0.0}, {"tokens", 100 * i}}
              .dump() +
          "\n";
    write_file(folder / (std::string(name) + "/metrics.jsonl"), lines);
  }
  const LineChart chart = training_chart(results(), folder.path(), {.title = "", .note = ""}, 1);
  ASSERT_EQ(chart.curves.size(), 1u);
  // The shorter run has ended at 1 after 200 tokens, the longer one is at 0 until 300.
  EXPECT_DOUBLE_EQ(chart.curves[0].x.back(), 400);
  EXPECT_DOUBLE_EQ(chart.curves[0].y.back(), 1);
  const auto at = static_cast<std::size_t>(250.0 / 400 * 150);
  EXPECT_NEAR(chart.curves[0].y[at], 0.5, 1e-9);
  const auto files = draw_sweep(results(), folder.path(), {.title = "", .note = ""});
  EXPECT_THAT(files, testing::Contains("commands-spacing-2.svg"));
  EXPECT_THAT(files, testing::Contains("reveals-8-2.svg"));
  EXPECT_THAT(files, testing::Not(testing::Contains("lengths.svg")));
  for (const std::string& file : files) EXPECT_TRUE(std::filesystem::exists(folder / file)) << file;
}

}  // namespace
}  // namespace shellgame
