#include "shellgame/evaluate/cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace shellgame {
namespace {

using testing::HasSubstr;
using testing::Not;

Statistics statistics(std::uint64_t right) {
  Tally tally(4);
  for (std::size_t trace = 0; trace < 4; ++trace) {
    tally.add(trace, {.command = 8,
                      .right = trace < right,
                      .numbers = {.cross_entropy = 0.75,
                                  .regret = 0.375,
                                  .strict = trace < right,
                                  .outside = 0.125,
                                  .bayes_cross_entropy = 0.5,
                                  .expected_bayes_accuracy = 0.625,
                                  .bayes_accuracy = 1,
                                  .bayes_agreement = 1}});
  }
  return statistics_of(tally, {.chance = 0.2, .length = 8});
}

EvaluationReport report() {
  EvaluationCell cell;
  cell.task = "S5 permutations";
  cell.axes = {{"commands", "8"}, {"spacing", "8"}};
  cell.all = statistics(3);
  cell.few_positions = cell.all.positions;
  cell.seeds = {{0, statistics(2)}, {1, statistics(4)}};
  cell.has_beliefs = true;
  cell.tokens = 800;
  cell.shown = {{0, 0, {{.command = 8, .variable = "a", .chosen = "2", .truth = "1"}}}};
  EvaluationReport report;
  report.model = "DIR";
  report.mode = "teacher";
  report.precision = "fp32";
  report.count = 4;
  report.cells = {cell};
  return report;
}

TEST(EvaluationCell, JsonHasTheDocumentedKeys) {
  const auto json = to_json(report());
  ASSERT_EQ(json.size(), 1u);
  const auto& cell = json[0];
  EXPECT_EQ(cell["commands"], 8);
  EXPECT_EQ(cell["spacing"], 8);
  EXPECT_EQ(cell["accuracy"], 0.75);
  EXPECT_EQ(cell["final_accuracy"], 0.75);
  EXPECT_EQ(cell["last_eighth_accuracy"], 0.75);
  EXPECT_EQ(cell["cross_entropy"], 0.75);
  EXPECT_EQ(cell["regret"], 0.375);
  EXPECT_EQ(cell["outside"], 0.125);
  EXPECT_EQ(cell["expected_bayes_accuracy"], 0.625);
  EXPECT_EQ(cell["mean"]["accuracy"], 0.75);
  EXPECT_NEAR(cell["spread"]["accuracy"].get<double>(), 0.3535533905932738, 1e-12);
  EXPECT_EQ(cell["seeds"][0]["accuracy"], 0.5);
  EXPECT_EQ(cell["seeds"][1]["accuracy"], 1.0);
  EXPECT_EQ(cell["bounds"]["final_accuracy"][0], binomial_bounds(3, 4).low);
  EXPECT_EQ(cell["positions"][0]["accuracy"], 0.75);
  EXPECT_EQ(cell["shown"][0]["reveals"][0]["predicted"], "2");
  EXPECT_TRUE(cell["first_failure_median"].is_null());
}

// Each number is another one, so that none can stand in another's place.
TEST(EvaluationCell, EveryMeasureStandsInEveryForm) {
  AnswerNumbers numbers;
  double value = 0.25;
  for (const Measure& measure : kMeasures) numbers.*measure.number = value += 0.03125;
  Tally tally(2);
  for (const std::size_t trace : {0, 1}) {
    for (int k = 0; k < 3; ++k) tally.add(trace, {.command = 1, .numbers = numbers});
  }
  EvaluationReport all = report();
  EvaluationCell& cell = all.cells[0];
  cell.all = statistics_of(tally, {.chance = 0.2});
  cell.few_positions = cell.all.positions;
  cell.seeds = {{0, cell.all}};
  const auto json = to_json(all)[0];
  const std::string csv = to_csv(all), text = to_text(all);
  for (const Measure& measure : kMeasures) {
    EXPECT_EQ(json[measure.name], numbers.*measure.number) << measure.name;
    EXPECT_EQ(json["mean"][measure.name], numbers.*measure.number);
    EXPECT_EQ(json["seeds"][0][measure.name], numbers.*measure.number);
    EXPECT_EQ(json["positions"][0].contains(measure.name),
              measure.at_positions != Measure::AtPositions::kNot);
    EXPECT_THAT(csv, HasSubstr(std::string(",") + measure.name + ","));
    EXPECT_THAT(csv, HasSubstr(std::string(",") + measure.name + "_spread,"));
    if (measure.column == nullptr) continue;
    EXPECT_THAT(text, HasSubstr(std::string("  ") + measure.column + "  "));
    EXPECT_THAT(text, HasSubstr(measure_text(measure, numbers.*measure.number)));
  }
}

// Of a schedule there may be fewer than were asked for.
TEST(EvaluationCell, TextSaysHowManyTracesThereWere) {
  EvaluationReport few = report();
  few.count = 64;
  EXPECT_THAT(to_text(few), HasSubstr(", 4 traces a seed"));
  few.cells.push_back(few.cells[0]);
  for (SeedResult& seed : few.cells[1].seeds) seed.statistics.traces = 12;
  EXPECT_THAT(to_text(few), HasSubstr(", 4 to 12 traces a seed"));
}

TEST(EvaluationCell, WhatIsNotKnownIsNull) {
  EvaluationReport unknown = report();
  unknown.cells[0].has_beliefs = false;
  const auto cell = to_json(unknown)[0];
  EXPECT_TRUE(cell["bayes_cross_entropy"].is_null());
  EXPECT_TRUE(cell["regret"].is_null());
  EXPECT_TRUE(cell["spread"]["regret"].is_null());
  EXPECT_FALSE(cell["cross_entropy"].is_null());
}

TEST(EvaluationCell, CsvHasOneRowACellAndAsManyFieldsAsTitles) {
  for (const bool beliefs : {true, false}) {
    EvaluationReport two = report();
    two.cells[0].has_beliefs = beliefs;
    two.cells.push_back(two.cells[0]);
    const std::string csv = to_csv(two);
    EXPECT_EQ(std::ranges::count(csv, '\n'), 3);
    const std::string titles = csv.substr(0, csv.find('\n'));
    const std::string row =
        csv.substr(titles.size() + 1, csv.find('\n', titles.size() + 1) - titles.size() - 1);
    EXPECT_EQ(std::ranges::count(row, ','), std::ranges::count(titles, ','));
    EXPECT_THAT(row, testing::StartsWith("8,8,teacher,fp32,4,2,4,4,800,0.2,0.75,0.75,"));
    EXPECT_THAT(titles, testing::EndsWith(",trained_axis,trained_segment,trained_longest"));
    EXPECT_THAT(row, testing::EndsWith(",,,"));
    two.trained = TaskRecord{.data = {}, .axis = "commands", .segment = 8, .longest = 64};
    EXPECT_THAT(to_csv(two), testing::EndsWith(",commands,8,64\n"));
  }
}

// Cells of two schedules: one has a parameter that the other does not have.
TEST(EvaluationCell, CellsWithOtherAxesAndTasksStandInTheirColumns) {
  EvaluationReport two = report();
  two.cells.push_back(two.cells[0]);
  two.cells[1].task = "schedule M5";
  two.cells[1].axes = {{"spacing", "9"}, {"N", "16"}, {"ending", "c"}};
  EXPECT_EQ(axis_names(two), (std::vector<std::string>{"commands", "spacing", "N", "ending"}));
  const std::string csv = to_csv(two);
  EXPECT_THAT(csv, testing::StartsWith("commands,spacing,N,ending,mode,"));
  EXPECT_THAT(csv, HasSubstr("\n8,8,,,teacher,"));
  EXPECT_THAT(csv, HasSubstr("\n,9,16,c,teacher,"));
  const auto json = to_json(two);
  EXPECT_EQ(json[0]["task"], "S5 permutations");
  EXPECT_EQ(json[1]["task"], "schedule M5");
  EXPECT_THAT(to_text(two), HasSubstr("S5 permutations; schedule M5"));
  EXPECT_THAT(to_text(two), testing::ContainsRegex("commands  spacing   N  ending  accuracy"));
}

TEST(EvaluationCell, TextHasATableAndTheCourseOfASingleCell) {
  const std::string one = to_text(report());
  EXPECT_THAT(one, HasSubstr("accuracy of each seed"));
  EXPECT_THAT(one, HasSubstr("0.5000 1.0000"));
  EXPECT_THAT(one, HasSubstr("reveal"));
  EXPECT_THAT(one, HasSubstr("|##################      |"));
  EXPECT_THAT(one, HasSubstr("<- first error"));
  EvaluationReport two = report();
  two.cells.push_back(two.cells[0]);
  EXPECT_THAT(to_text(two), Not(HasSubstr("|######")));
}

TEST(EvaluationCell, ALongTraceShowsItsBeginningAndItsFirstError) {
  EvaluationReport long_one = report();
  auto& lines = long_one.cells[0].shown[0].lines;
  lines.assign(1000, {.variable = "a", .chosen = "1", .truth = "1", .right = true});
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i].command = i + 1;
  lines[500].right = false;
  const std::string text = to_text(long_one);
  EXPECT_THAT(text, HasSubstr("..."));
  EXPECT_THAT(text, HasSubstr("<- first error"));
  EXPECT_LT(std::ranges::count(text, '\n'), 80);
}

}  // namespace
}  // namespace shellgame
