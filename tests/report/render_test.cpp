#include "shellgame/report/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/report/csv_table.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

const FigureMetadata kAbout{
    .title = "A title", .description = "of β", .command = "shellgame figures x"};

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number = number << 8 | static_cast<unsigned char>(bytes.at(at + i));
  return number;
}

TEST(Render, GivesPdfAndPngOfThePageThatCarryTheCommand) {
  Canvas canvas(144, 72);
  canvas.text(10, 40, "h_{t} β σ");
  const Rendered rendered = render_svg(canvas.svg(kAbout), kAbout, 150);
  EXPECT_TRUE(rendered.pdf.starts_with("%PDF-"));
  EXPECT_THAT(rendered.pdf, testing::HasSubstr("/Keywords (shellgame figures x)"));
  EXPECT_THAT(rendered.pdf, testing::HasSubstr("/Title (A title)"));
  ASSERT_GT(rendered.png.size(), 100u);
  EXPECT_EQ(number_at(rendered.png, 16), 300u);  // two inches at 150 dots
  EXPECT_EQ(number_at(rendered.png, 20), 150u);
  EXPECT_THAT(rendered.png,
              testing::HasSubstr(std::string("tEXtComment\0shellgame figures x", 31)));
  EXPECT_THAT(rendered.png, testing::HasSubstr("iTXtDescription"));
}

TEST(Render, WhatIsNoSvgIsRefused) {
  EXPECT_THROW(render_svg("<svg", kAbout), Error);
  EXPECT_THROW(render_svg("<svg xmlns=\"http://www.w3.org/2000/svg\"/>", kAbout), Error);
}

TEST(PngText, AChunkHasItsLengthAndSum) {
  // The smallest that has an end; the sum of "IEND" is known from the format's description.
  const std::string png("\x89PNG\r\n\x1a\n\0\0\0\0IEND\xae\x42\x60\x82", 20);
  const std::string with = png_with_text(png, "Comment", "abc");
  EXPECT_EQ(with.size(), png.size() + 12 + 11);
  EXPECT_EQ(number_at(with, 8), 11u);
  EXPECT_EQ(with.substr(12, 15), std::string("tEXtComment\0abc", 15));
  // zlib.crc32(b"tEXtComment\0abc")
  EXPECT_EQ(number_at(with, 27), 0x4eef5b1eu);
  EXPECT_TRUE(with.ends_with(png.substr(8)));
  EXPECT_THROW(png_with_text("no picture", "a", "b"), Error);
}

TEST(CsvTable, QuotesWhatNeedsIt) {
  CsvTable table({"name", "value"});
  table.row({std::string("a, \"b\""), 0.1});
  table.row({std::string("c"), 1e-30});
  EXPECT_EQ(table.text(), "name,value\n\"a, \"\"b\"\"\",0.1\nc,1e-30\n");
  EXPECT_THROW(table.row({1.0}), UsageError);
}

}  // namespace
}  // namespace shellgame
