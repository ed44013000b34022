#include "shellgame/report/page_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace shellgame {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(PageChart, EveryPointsValueShowsOnHovering) {
  PageChart chart{.title = "T", .x_label = "step", .y_label = "y", .curves = {}};
  chart.curves.push_back({.curve = {"one", {1, 2}, {0.25, 0.5}, {0.125, 0.5}, {0.375, 0.5}}});
  chart.curves.push_back({.curve = {"two", {2}, {0.75}}, .colour = 1});
  const std::string svg = chart.figure();
  EXPECT_THAT(svg, HasSubstr("<title>step 1\none: 0.2500 (0.1250 to 0.3750)</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>step 2\none: 0.5000\ntwo: 0.7500</title>"));
}

TEST(PageChart, PointsThatCannotBeDrawnAreLeftOut) {
  PageChart chart{.title = "T", .x_label = "x", .y_label = "y", .curves = {}};
  EXPECT_EQ(chart.figure(), "");
  chart.curves.push_back({.curve = {"one", {1, 2}, {std::nan(""), INFINITY}}});
  EXPECT_EQ(chart.figure(), "");
  chart.curves.push_back({.curve = {"two", {0, 1, 4}, {1, 2, 3}}});
  chart.log_x = true;
  EXPECT_THAT(chart.figure(), Not(HasSubstr("nan")));
  EXPECT_THAT(chart.figure(), Not(HasSubstr("inf")));
}

TEST(PageChart, NamesAreEscaped) {
  PageChart chart{.title = "<zz", .x_label = "<zz", .y_label = "<zz", .curves = {}};
  chart.curves.push_back({.curve = {"<zz", {1}, {1}}, .marks = {{1, "<zz"}}});
  const std::string svg = chart.figure() + box_figure("<zz", "<zz", {{"<zz", 0, 1, 2, 3, 4, 5, 6}});
  EXPECT_THAT(svg, HasSubstr("&lt;zz"));
  EXPECT_THAT(svg, Not(HasSubstr("<zz")));
}

TEST(PageChart, ABoxShowsItsNumbers) {
  EXPECT_THAT(box_figure("T", "beta", {{"head", 0, 0.25, 0.5, 1, 1.5, 1.75, 2}}),
              HasSubstr("head\nmedian 1.0000\nmiddle half 0.5000 to 1.5000"));
  EXPECT_EQ(box_figure("T", "beta", {}), "");
}

}  // namespace
}  // namespace shellgame
