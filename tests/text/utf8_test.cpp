#include "shellgame/text/utf8.h"

#include <gtest/gtest.h>

namespace shellgame {
namespace {

TEST(Utf8, EveryCodePointComesBack) {
  for (char32_t c = 0; c < 0x110000; c += c < 0x3000 ? 1 : 61) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    append_utf8(text, c);
    ASSERT_EQ(find_invalid_utf8(text), std::string::npos);
    const CodePoint point = code_point_at(text, 0);
    ASSERT_EQ(point.value, c);
    ASSERT_EQ(point.length, text.size());
    ASSERT_EQ(code_point_before("xyz" + text, 3 + text.size()), 3u);
    ASSERT_EQ(is_ascii(text), c < 128);
  }
}

// The examples of the Unicode standard (section 3.9, "U+FFFD Substitution of Maximal Subparts").
TEST(Utf8, ReplacesMaximalSubpartsAsTheStandardShows) {
  const std::string r = "\uFFFD";
  EXPECT_EQ(replace_invalid_utf8("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"),
            r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"),
            r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(replace_invalid_utf8("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"),
            r + r + r + r + r + "A" + r + r + "B");
  EXPECT_EQ(replace_invalid_utf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), r + r + r + r + "A");
  EXPECT_EQ(replace_invalid_utf8("a\xC3\xA9"), "a\u00e9");
  EXPECT_EQ(replace_invalid_utf8("a\xC3"), "a" + r);
}

TEST(Utf8, SaysTheFirstInvalidByte) {
  EXPECT_EQ(find_invalid_utf8("0123456789abcdef\xC3\xA9xyz\xFF"), 21u);
  EXPECT_EQ(find_invalid_utf8("\xED\xA0\x80"), 0u) << "a surrogate";
  EXPECT_EQ(find_invalid_utf8("12345678\xC3"), 8u);
  EXPECT_EQ(find_invalid_utf8(""), std::string::npos);
}

}  // namespace
}  // namespace shellgame
