#include "shellgame/report/panel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

std::vector<std::string> names_of(const Axis& axis) {
  std::vector<std::string> names;
  for (const Tick& tick : axis.ticks) names.push_back(tick.name);
  return names;
}

TEST(Panel, TicksAreRoundNumbers) {
  EXPECT_THAT(names_of(share_axis("")), testing::ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1"));
  EXPECT_THAT(names_of(linear_axis(0, 2, "", 4)),
              testing::ElementsAre("0", "0.5", "1", "1.5", "2"));
  EXPECT_THAT(names_of(log_axis(1e-3, 10, "")),
              testing::ElementsAre("10^{-3}", "10^{-2}", "10^{-1}", "1", "10"));
  EXPECT_LE(log_axis(1e-48, 1e3, "").ticks.size(), 8u);
  EXPECT_THAT(names_of(points_axis({64, 16384, 64, 8}, "")),
              testing::ElementsAre("8", "64", "16384"));
}

TEST(Panel, PlacesAreLinearOrLogarithmic) {
  Canvas canvas(200, 200);
  const Panel panel(canvas, {50, 20, 100, 100}, log_axis(10, 1000, "x"), linear_axis(0, 1, "y"));
  EXPECT_DOUBLE_EQ(panel.across(10), 50);
  EXPECT_DOUBLE_EQ(panel.across(100), 100);
  EXPECT_DOUBLE_EQ(panel.up(0.25), 95);
  EXPECT_DOUBLE_EQ(panel.up(7), 20);  // held within the frame
}

TEST(Panel, NamesOfTicksNeverLieOnEachOther) {
  for (const double width : {40.0, 80.0, 300.0}) {
    Canvas canvas(400, 300);
    std::vector<double> points;
    for (double point = 1; point <= 65536; point *= 2) points.push_back(point);
    Panel log(canvas, {60, 20, width, 60}, points_axis(points, "commands"), linear_axis(0, 1, "y"));
    log.draw_frame();
    Panel named(canvas, {60, 140, width, 60},
                names_axis({"newline", "left variable", "prompt", "right comma"}, "kind"),
                linear_axis(0, 1, "y"));
    named.draw_frame();
    EXPECT_THAT(canvas.overlaps(), testing::IsEmpty()) << width;
    EXPECT_TRUE(canvas.cut_off().empty()) << width;
  }
}

TEST(Panel, ACurveHasItsPointsAndItsBand) {
  Canvas canvas(200, 200);
  Panel panel(canvas, {50, 20, 100, 100}, linear_axis(0, 10, "x"), linear_axis(0, 1, "y"));
  panel.series({.x = {0, 10}, .y = {0, 1}, .low = {0, 0.5}, .high = {0.5, 1}}, {}, "one");
  const std::string svg = canvas.svg({});
  EXPECT_THAT(svg, testing::HasSubstr("<polyline points=\"50,120 150,20\""));
  EXPECT_THAT(svg, testing::HasSubstr("<polygon points=\"50,70 150,20 150,70 50,120\""));
  EXPECT_THAT(svg, testing::HasSubstr("<title>one: 10, 1</title>"));
}

TEST(Panel, WhatCannotBeDrawnIsRefused) {
  Canvas canvas(200, 200);
  EXPECT_THROW(Panel(canvas, {0, 0, 10, 10}, linear_axis(1, 1, ""), linear_axis(0, 1, "")),
               UsageError);
  EXPECT_THROW(log_axis(0, 1, ""), UsageError);
  EXPECT_THROW(points_axis({}, ""), UsageError);
  Panel panel(canvas, {0, 0, 10, 10}, linear_axis(0, 1, ""), linear_axis(0, 1, ""));
  EXPECT_THROW(panel.series({.x = {1, 2}, .y = {1}}, {}), UsageError);
}

TEST(Panel, ALegendStaysWithinItsWidth) {
  Canvas canvas(200, 200);
  const double below =
      draw_legend(canvas, 10, 20, 150, {{"one", {}}, {"a longer name", {}}, {"three", {}}});
  EXPECT_TRUE(canvas.overlaps().empty());
  for (const PlacedText& text : canvas.texts()) EXPECT_LE(text.box.right(), 160);
  EXPECT_GT(below, 31);
}

}  // namespace
}  // namespace shellgame
