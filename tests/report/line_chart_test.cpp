#include "shellgame/report/line_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <utility>

#include "shellgame/report/text_width.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

TEST(LineChart, TicksAreRoundNumbers) {
  const auto unit = nice_ticks(0, 1, 5);
  ASSERT_EQ(unit.size(), 6u);
  EXPECT_NEAR(unit[3], 0.6, 1e-12);
  const auto ticks = nice_ticks(3, 97, 5);
  EXPECT_THAT(ticks, testing::ElementsAre(20, 40, 60, 80));
  EXPECT_THAT(nice_ticks(-1, 1, 4), testing::ElementsAre(-1, -0.5, 0, 0.5, 1));
}

TEST(LineChart, HasEveryCurveWithItsNameAndPoints) {
  LineChart chart{.title = "a < b", .x_label = "x", .y_label = "y", .curves = {}};
  chart.curves = {{"one & two", {1, 10, 100}, {0, 0.5, 1}, {0, 0.4, 0.9}, {0.1, 0.6, 1}}};
  chart.log_x = true;
  const std::string svg = chart.svg();
  EXPECT_THAT(svg, testing::HasSubstr("a &lt; b"));
  EXPECT_THAT(svg, testing::HasSubstr("one &amp; two"));
  EXPECT_THAT(svg, testing::HasSubstr("<polygon"));
  // The middle of a logarithmic axis: half way between 64 and 696.
  EXPECT_THAT(svg, testing::HasSubstr("cx=\"380.0\""));
  EXPECT_TRUE(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
}

// x and y of the text, and whether the picture is high enough for it.
std::pair<double, double> place_of(const std::string& svg, const std::string& text) {
  std::smatch found;
  const std::regex pattern("<text x=\"([0-9.]+)\" y=\"([0-9.]+)\"[^>]*> *" + text + "<");
  if (!std::regex_search(svg, found, pattern)) return {-1, -1};
  std::smatch size;
  EXPECT_TRUE(std::regex_search(svg, size, std::regex("viewBox=\"0 0 720 ([0-9]+)\"")));
  EXPECT_LT(std::stod(found[2]), std::stod(size[1]));
  return {std::stod(found[1]), std::stod(found[2])};
}

// Beyond the curves there is no mark; two that are close stand one above the other, and the last
// one to the left of its line.
TEST(LineChart, MarksHaveALineAndANameThatIsNotCutOff) {
  LineChart chart{.title = "", .x_label = "", .y_label = "", .curves = {}};
  chart.curves = {{"one", {0, 100}, {0, 1}}};
  chart.marks = {{100, "stream"}, {50, "segment"}, {52, "trained"}, {200, "beyond"}};
  const std::string svg = chart.svg();
  const auto segment = place_of(svg, "segment"), trained = place_of(svg, "trained"),
             stream = place_of(svg, "stream");
  EXPECT_NEAR(segment.first, 64 + 632 / 2.0 + 4, 0.1);
  EXPECT_LT(trained.second, segment.second - 10);
  EXPECT_EQ(stream.second, segment.second);
  EXPECT_LT(stream.first + 11 * text_width("stream"), 64 + 632);
  EXPECT_THAT(svg, testing::Not(testing::HasSubstr("beyond")));
}

TEST(LineChart, LongNamesAndNotesGetTheRoomThatTheyNeed) {
  LineChart chart{.title = "", .x_label = "", .y_label = "", .curves = {}};
  for (const char* name : {"a", "b", "c", "d"}) chart.curves.push_back({name, {0, 1}, {0, 1}});
  chart.note = "shellgame sweep x.toml";
  std::string svg = chart.svg();
  EXPECT_EQ(place_of(svg, "a").second, place_of(svg, "d").second);
  EXPECT_THAT(svg, testing::HasSubstr("viewBox=\"0 0 720 420\""));

  const std::string longest = "Transformer with a window, streams";
  chart.curves[1].name = longest;
  chart.note = "shellgame sweep " + std::string(80, 'e') + " --run " + std::string(90, 'r');
  svg = chart.svg();
  const auto [x, y] = place_of(svg, longest);
  EXPECT_LT(x + 13 * text_width(longest), 720);
  EXPECT_EQ(place_of(svg, "a").second, y);
  EXPECT_EQ(place_of(svg, "c").second, place_of(svg, "d").second);
  EXPECT_GT(place_of(svg, "c").second, y);
  EXPECT_GT(x - 30, place_of(svg, "a").first);
  const double first = place_of(svg, "shellgame sweep e+ --run").second,
               second = place_of(svg, "r+").second;
  EXPECT_GT(first, place_of(svg, "d").second);
  EXPECT_GT(second, first);
}

TEST(LineChart, WhatCannotBeDrawnIsRefused) {
  LineChart chart{.title = "", .x_label = "", .y_label = "", .curves = {}};
  EXPECT_THROW(chart.svg(), UsageError);
  chart.curves = {{"a", {0, 1}, {0, 1}}};
  chart.log_x = true;
  EXPECT_THROW(chart.svg(), UsageError);
}

}  // namespace
}  // namespace shellgame
