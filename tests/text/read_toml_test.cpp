#include "shellgame/text/read_toml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"

namespace shellgame {
namespace {

std::string refusal_of_toml(const std::string& text) {
  try {
    parse_toml(text, "f");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string repeated(const std::string& text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(ReadToml, NestingByBracketsAndByDotsHasOneLimit) {
  const auto deep = [](std::size_t n) {
    return std::vector<std::string>{"a" + repeated(".a", n) + " = 1",
                                    "[a" + repeated(".a", n - 1) + "]\nb = 1",
                                    "[[a" + repeated(" . \"a\"", n - 1) + "]]",
                                    "[x.y]\na" + repeated(".'a'", n - 2) + " = 1",
                                    "a = " + repeated("[", n) + repeated("]", n),
                                    "a = {b" + repeated(".a", n - 1) + " = 1}"};
  };
  for (const std::string& text : deep(kMaxNesting)) EXPECT_EQ(refusal_of_toml(text), "") << text;
  for (const std::string& text : deep(kMaxNesting + 1)) {
    EXPECT_THAT(refusal_of_toml(text), testing::HasSubstr("nested at most 100 deep")) << text;
  }
}

TEST(ReadToml, WhatOnlyLooksDeepIsRead) {
  const std::string many = repeated("[", 300) + repeated("a.", 300);
  for (const std::string& text :
       {"a = \"" + many + "\\\"" + many + "\"", "a = '" + many + "'", "# " + many,
        "a = \"\"\"\n" + many + "\n\\\"\"\"" + many + "\"\"\"\"\"\nb = 1",
        "a = '''" + many + "'\n'''", "a = [" + repeated("1.5, ", 500) + "]",
        "a = [" + repeated("[1.5], ", 500) + "]", std::string("a = {b = 1.5, c.d = 2.5}"),
        repeated("[[a.b.c]]\nx.y = 0.5\n", 500),
        "a = [\n" + repeated("  {b = 0.5}, # [\n", 300) + "]\nc.d = 1"}) {
    EXPECT_EQ(refusal_of_toml(text), "") << text.substr(0, 50);
  }
}

TEST(ReadToml, WrongSyntaxHasItsPlace) {
  EXPECT_THAT(refusal_of_toml("a = 1\nb = = 2\n"), testing::StartsWith("f:2:5: "));
  EXPECT_THAT(refusal_of_toml("a = \"x\nb = 1"), testing::StartsWith("f:1:"));
}

}  // namespace
}  // namespace shellgame
