#include "shellgame/report/xml_text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace shellgame {
namespace {

TEST(XmlText, NoTextBecomesMarkup) {
  EXPECT_EQ(xml_escaped("<a href=\"x\">&</a>"), "&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;");
}

TEST(XmlText, WhatIsNoCharacterIsReplaced) {
  EXPECT_EQ(xml_escaped("a\x01z"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(xml_escaped("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(xml_escaped("\xC3"), "\xEF\xBF\xBD");
  EXPECT_EQ(xml_escaped("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
  EXPECT_EQ(xml_escaped("\xC3\xA9 \xE2\x88\x9E \xF0\x9F\x90\x9A"),
            "\xC3\xA9 \xE2\x88\x9E \xF0\x9F\x90\x9A");
}

TEST(XmlText, NumbersForPeople) {
  EXPECT_EQ(short_number(0.99951171875), "0.9995");
  EXPECT_EQ(short_number(1234567.8), "1,234,568");
  EXPECT_EQ(short_number(3.14e-7), "3.14e-07");
  EXPECT_EQ(short_number(std::nan("")), "-");
  EXPECT_EQ(short_value(21152960), "21,152,960");
  EXPECT_EQ(short_value(-123), "-123");
  EXPECT_EQ(short_value(nullptr), "-");
  EXPECT_EQ(exact_value(0.1), "0.1");
  EXPECT_EQ(tick_number(12500), "12.5k");
  EXPECT_EQ(tick_number(1.5e6), "1.5M");
}

TEST(XmlText, AMissingNumberIsNotANumber) {
  EXPECT_TRUE(std::isnan(number_of({{"a", nullptr}}, "a")));
  EXPECT_TRUE(std::isnan(number_of({{"a", "1"}}, "a")));
  EXPECT_TRUE(std::isnan(number_of(nullptr, "a")));
  EXPECT_EQ(number_of({{"a", 2}}, "a"), 2);
}

}  // namespace
}  // namespace shellgame
