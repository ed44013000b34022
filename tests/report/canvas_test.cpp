#include "shellgame/report/canvas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/report/parts.h"
#include "shellgame/report/text_width.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

TEST(TextWidth, IsThatOfTheFont) {
  // Liberation Sans has the advance widths of Arial: m 833, i 222, a space 278, bold m 889.
  EXPECT_NEAR(text_width("m i"), 0.833 + 0.278 + 0.222, 1e-12);
  EXPECT_NEAR(text_width("m", {.bold = true}), 0.889, 1e-12);
  EXPECT_NEAR(text_width("mi", {.mono = true}), 2 * 0.602, 1e-12);
  EXPECT_NEAR(text_width("β"), 0.61, 1e-12);  // one letter of two bytes
}

TEST(Canvas, KnowsWhichTextsAreCutOff) {
  Canvas canvas(100, 50);
  canvas.text(10, 20, "inside");
  EXPECT_TRUE(canvas.cut_off().empty());
  canvas.text(90, 20, "too far to the right");
  canvas.text(50, 52, "low");
  canvas.text(5, 10, "turned upwards", {.upwards = true});
  std::vector<std::string> names;
  for (const PlacedText& text : canvas.cut_off()) names.push_back(text.text);
  EXPECT_THAT(names, testing::ElementsAre("too far to the right", "low", "turned upwards"));
}

TEST(Canvas, KnowsWhichTextsLieOnAnother) {
  Canvas canvas(100, 50);
  canvas.text(10, 20, "one");
  canvas.text(10, 40, "two");
  EXPECT_TRUE(canvas.overlaps().empty());
  canvas.text(12, 21, "three");
  EXPECT_THAT(canvas.overlaps(), testing::ElementsAre(testing::Pair("one", "three")));
}

TEST(Canvas, LowerLettersAreSmallerAndComeBackToTheLine) {
  Canvas canvas(100, 50);
  canvas.text(10, 20, "h_{t} x");
  EXPECT_EQ(canvas.texts()[0].text, "ht x");
  EXPECT_LT(Canvas::width_of("h_{t}", {}), Canvas::width_of("ht", {}));
  const std::string svg = canvas.svg({});
  EXPECT_THAT(svg, testing::HasSubstr("dy=\"1.76\""));
  EXPECT_THAT(svg, testing::HasSubstr("dy=\"-1.76\""));
}

TEST(Canvas, WhatXmlReservesIsEscaped) {
  Canvas canvas(100, 50);
  canvas.text(10, 20, "a < b & \"c\"");
  const std::string svg =
      canvas.svg({.title = "<t>", .description = "d & e", .command = "shellgame --set 'a>b'"});
  EXPECT_THAT(svg, testing::HasSubstr(">a &lt; b &amp; &quot;c&quot;</text>"));
  EXPECT_THAT(svg, testing::HasSubstr("<title>&lt;t&gt;</title>"));
  EXPECT_THAT(svg, testing::HasSubstr("<metadata>shellgame --set 'a&gt;b'</metadata>"));
}

TEST(Parts, AMatrixWritesEveryNumber) {
  Canvas canvas(200, 100);
  const Box box =
      draw_matrix(canvas, 5, 5, {1, 0.5, 0, 0.0009765625, 1.0 / 3, 5.0 / 6}, 2, {.cell = 20});
  std::vector<std::string> texts;
  for (const PlacedText& text : canvas.texts()) texts.push_back(text.text);
  EXPECT_THAT(texts, testing::ElementsAre("1", "0.5", "0", "2-10", "1/3", "5/6"));
  EXPECT_DOUBLE_EQ(box.height, 60);
  EXPECT_THROW(draw_matrix(canvas, 0, 0, {1, 2, 3}, 2, {}), UsageError);
  EXPECT_TRUE(canvas.overlaps().empty());
}

TEST(Parts, ColoursGoFromWhiteToTheColour) {
  EXPECT_EQ(mixed_colour("#0072b2", 0), "#ffffff");
  EXPECT_EQ(mixed_colour("#0072b2", 1), "#0072b2");
  EXPECT_EQ(mixed_colour("#000000", 0.5), "#808080");
}

TEST(Parts, AParagraphKeepsItsWidth) {
  Canvas canvas(200, 200);
  const double below = draw_paragraph(canvas, 10, 20, 60, "some words that need several lines");
  EXPECT_GT(canvas.texts().size(), 1u);
  for (const PlacedText& text : canvas.texts()) EXPECT_LE(text.box.width, 60);
  EXPECT_NEAR(below, 20 + 8 * 1.3 * static_cast<double>(canvas.texts().size()), 1e-9);
}

}  // namespace
}  // namespace shellgame
