#include "shellgame/report/line_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/system/error.h"

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

TEST(LineChart, WhatCannotBeDrawnIsRefused) {
  LineChart chart{.title = "", .x_label = "", .y_label = "", .curves = {}};
  EXPECT_THROW(chart.svg(), UsageError);
  chart.curves = {{"a", {0, 1}, {0, 1}}};
  chart.log_x = true;
  EXPECT_THROW(chart.svg(), UsageError);
}

}  // namespace
}  // namespace shellgame
