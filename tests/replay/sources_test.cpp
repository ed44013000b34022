#include "shellgame/replay/sources.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "shellgame/programs/render.h"
#include "tests/support/program_generator.h"

namespace shellgame {
namespace {

bool is_plain(const std::string& text) { return SourceTable().know(CutText(text)).plain; }

const std::string kStart = ">>> from random import random\n>>> a = 1\n>>> b = 2\n";

TEST(SourceTable, WhatTheParserReadsWholeIsPlain) {
  EXPECT_TRUE(is_plain(kStart));
  EXPECT_TRUE(is_plain("# a header\n" + kStart + "\n>>> print('a', a)\na 1\n"));
  EXPECT_TRUE(is_plain(kStart + ">>> if random() < 0.5: a, b = b, a\n"));
  EXPECT_TRUE(is_plain(kStart + ">>> print( 'a',  a )\na 2\n"));  // wrong, and harmless
}

RC_GTEST_PROP(SourceTable, EveryProgramIsPlain, ()) {
  const Program program = *arbitrary_program();
  const std::string text = render(program);
  // Two underscores may mean something to Python.
  RC_ASSERT(is_plain(text) == (text.find("__") == std::string::npos));
}

TEST(SourceTable, WhatPythonMayReadInAnotherWayIsNotPlain) {
  EXPECT_FALSE(is_plain(""));
  EXPECT_FALSE(is_plain("prose\n"));
  EXPECT_FALSE(is_plain(">>> 1\n1\n"));
  EXPECT_FALSE(is_plain(">>> import os\n>>> a = 1\n"));
  EXPECT_FALSE(is_plain(kStart + ">>> print(len)\n1\n"));
  EXPECT_FALSE(is_plain(kStart + ">>> print(a)\n3\n"));  // 3 is no value of it
  EXPECT_FALSE(is_plain(">>> __builtins__ = 1\n"));
  // Python ends a line, and with it a comment, at a carriage return.
  EXPECT_FALSE(is_plain(kStart + ">>> if random() < 1: # x\r    print(5)\n...     a, b = b, a\n"));
  EXPECT_FALSE(is_plain(kStart + ">>> a, b = b, a # x\n"));
  EXPECT_FALSE(is_plain(kStart + "\n# \x0c\n"));
  EXPECT_FALSE(is_plain(kStart + "\n# \u2028>>> 1\n"));
  EXPECT_FALSE(is_plain(">>> a = 1\r\n>>> b = 2\r\n"));
  EXPECT_FALSE(is_plain("  >>> a = 1\n"));
  EXPECT_FALSE(is_plain(kStart + ">>>a = 1\n"));
  // Deeper than a compiler need go.
  std::string deep = kStart + ">>> if (draw := random()) < 0.1: a, b = b, a\n";
  for (int i = 0; i < 200; ++i)
    deep += "... elif draw < 0.2" + std::to_string(1000 + i) + ": pass\n";
  EXPECT_FALSE(is_plain(deep));
}

TEST(SourceTable, KnownSourcesMakeANewTextPlainOnlyWithoutOthers) {
  SourceTable table;
  EXPECT_TRUE(table.know(CutText(kStart + ">>> print(a)\n1\n")).plain);
  EXPECT_TRUE(table.know(CutText(">>> a = 1\n>>> print(a)\n5\n")).plain);  // no parser needed
  EXPECT_FALSE(table.know(CutText(">>> a = 1\n>>> print(a)\n5\n>>> quit()\n")).plain);
  EXPECT_FALSE(table.know(CutText(">>> a = 1\n>>> quit()\n")).plain);
  EXPECT_FALSE(table.know(CutText(">>> a = 1\n\n\u2028\n")).plain);
}

TEST(SourceTable, NumbersSourcesAndCountsLoads) {
  SourceTable table;
  const KnownTrace first = table.know(CutText(">>> a\n>>> b\n>>> a\n"));
  EXPECT_EQ(first.sources, (std::vector<std::uint32_t>{0, 1, 0}));
  EXPECT_EQ(table.know(CutText(">>> c\n>>> b\n")).sources, (std::vector<std::uint32_t>{2, 1}));
  const auto loads = [&](const std::string& source) {
    return table.know(CutText(">>> " + source + "\n")).loads;
  };
  EXPECT_EQ(loads("environ['LOAD_3'], environ['LOAD_12']"), 12u);
  EXPECT_EQ(loads("LOAD_"), 0u);
  EXPECT_EQ(loads("OVERLOAD_5, LOAD_5x, LOAD_-5"), 0u);
  EXPECT_EQ(loads("LOAD_99999999999999999999"), 0u);
  EXPECT_EQ(loads("LOAD_999999999"), 1000000u);
}

TEST(SourceTable, StartsAnewWhenItIsFull) {
  SourceTable table;
  std::uint32_t generation = 0;
  for (int i = 0; i < 70000; i += 100) {
    std::string text;
    for (int k = 0; k < 100; ++k) text += ">>> a" + std::to_string(i + k) + "\n";
    const KnownTrace known = table.know(CutText(text));
    for (const std::uint32_t number : known.sources) ASSERT_LT(number, 1u << 16);
    generation = known.generation;
  }
  EXPECT_EQ(generation, 1u);
}

}  // namespace
}  // namespace shellgame
