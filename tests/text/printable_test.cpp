#include "shellgame/text/printable.h"

#include <gtest/gtest.h>

namespace shellgame {
namespace {

TEST(Printable, WritesOutWhatATerminalWouldObey) {
  EXPECT_EQ(printable("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(printable("a\nb\tc\rd\x7f"), "a\\nb\\tc\\rd\\x7f");
  EXPECT_EQ(printable(std::string("\0\x07\x08", 3)), "\\x00\\x07\\x08");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");  // the other form of ESC [
  EXPECT_EQ(printable("\u202etxt\u2066\u200f\u2028"), "\\u202etxt\\u2066\\u200f\\u2028");
}

TEST(Printable, WritesOutWhatIsNotUtf8) {
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("\x9b"), "\\x9b");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");           // ESC in two bytes
  EXPECT_EQ(printable("\xe0\x80\x9b"), "\\xe0\\x80\\x9b");  // in three
  EXPECT_EQ(printable("\xf0\x80\x80\x9b"), "\\xf0\\x80\\x80\\x9b");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  EXPECT_EQ(printable("a\xe2\x82"), "a\\xe2\\x82");                  // cut off
  EXPECT_EQ(printable("\xe2(\xa1"), "\\xe2(\\xa1");
}

TEST(Printable, LeavesOtherTextAsItIs) {
  const std::string text = "Plain 'text', \\n as two letters, π ± █ 漢字 \U0001f600 \u00a0";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, KeepsTheLinesOfATable) {
  EXPECT_EQ(printable_lines("a\tb\r\n\x1b[2Jc\n"), "a\tb\\r\n\\x1b[2Jc\n");
}

}  // namespace
}  // namespace shellgame
