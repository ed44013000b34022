#include "shellgame/text/read_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

std::string refusal_of(std::string_view text, std::size_t first_line = 1) {
  try {
    parse_json(text, "f", first_line);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(ReadJson, GivesWhatThePlainParserGives) {
  for (const char* text :
       {"null", "true", "-3", "18446744073709551615", "1e-3", "\"\\u00e9\\n\"", "[]", "{}",
        R"({"b": [1, [2.5, {"c": null}], "x"], "a": {"d": [[]], "e": {}}})"}) {
    EXPECT_EQ(parse_json(text, "f"), nlohmann::json::parse(text)) << text;
    EXPECT_EQ(parse_ordered_json(text, "f").dump(), nlohmann::ordered_json::parse(text).dump());
  }
}

TEST(ReadJson, RefusesWithThePlace) {
  EXPECT_EQ(refusal_of("{\"a\":\n  x}"),
            "f:2:3: the text must be JSON in UTF-8, but here it is not");
  EXPECT_EQ(refusal_of("[1, 2", 7), "f:7:6: the text must be JSON in UTF-8, but here it is not");
  EXPECT_EQ(refusal_of(""), "f:1:1: the text must be JSON in UTF-8, but here it is not");
  EXPECT_EQ(refusal_of("[\"\xff\"]"), "f:1:3: the text must be JSON in UTF-8, but here it is not");
  EXPECT_EQ(refusal_of("[1] 2"), "f:1:5: the text must be JSON in UTF-8, but here it is not");
  EXPECT_EQ(refusal_of(std::string_view("1\0 2", 4)),
            "f:1:2: the text must be JSON in UTF-8, but here it is not");
  EXPECT_THAT(refusal_of("[1e999]"), testing::HasSubstr("a number must be one"));
  EXPECT_EQ(refusal_of(R"({"a": {"b": 1, "b": 2}})"),
            "f:1: an object must name each key once, but one has \"b\" twice");
}

TEST(ReadJson, NestingHasALimitAndBracketsInTextsDoNotCount) {
  const std::string open(kMaxNesting, '['), close(kMaxNesting, ']');
  EXPECT_EQ(refusal_of(open + close), "");
  EXPECT_EQ(refusal_of("[\"\\\"" + open + open + "\"]"), "");
  EXPECT_EQ(refusal_of("\n[" + open + close + "]"),
            "f:2:101: lists and objects must be nested at most 100 deep");
  EXPECT_EQ(refusal_of(std::string(1'000'000, '[')),
            "f:1:101: lists and objects must be nested at most 100 deep");
}

}  // namespace
}  // namespace shellgame
