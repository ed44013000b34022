#include "shellgame/programs/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/programs/execute.h"
#include "shellgame/programs/render.h"
#include "shellgame/system/files.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

const char kPaper[] =
    ">>> a = 1\n>>> b = 2\n>>> c = 3\n>>> print('a', a)\na 1\n>>> a, b = b, a\n>>> print('a', "
    "a)\na 2\n"
    ">>> b, c = c, b\n>>> print('c', c)\nc 1\n>>> a, c = c, a\n>>> print('a', a)\na 1\n";

std::string digits(const Program& program, const State& state) {
  std::string text;
  for (ValueId value : state) text += program.names().value(value).text;
  return text;
}

TEST(Parse, ThePapersListingHasTheStates213And231And132) {
  const Program program = parse(kPaper);
  const Execution execution = execute(program);
  ASSERT_EQ(execution.states.size(), 3u);
  EXPECT_EQ(digits(program, execution.initial), "123");
  EXPECT_EQ(digits(program, execution.states[0]), "213");
  EXPECT_EQ(digits(program, execution.states[1]), "231");
  EXPECT_EQ(digits(program, execution.states[2]), "132");
  EXPECT_FALSE(execution.contradiction);
  EXPECT_EQ(render(program), kPaper);
}

// What a person might type, and the canonical text of the same program.
TEST(Parse, ReadsWhatAPersonTypes) {
  const std::string typed =
      "# a comment\n\n>>> from random import random   # hidden\n>>> a, b = 1, 2; c = 3\n>>> "
      "(a,b)=(b,a)\n"
      ">>> print( \"a\" , a )\na 2\n\n>>> if random() < .5:\n...     a, b = b, a\n... else:\n...   "
      "  pass\n...\n"
      ">>> assert a in [1, 2]\n>>> print(a,b,)\n2 1\n";
  const std::string canonical =
      ">>> from random import random\n>>> a = 1\n>>> b = 2\n>>> c = 3\n>>> a, b = b, a\n>>> "
      "print('a', a)\na 2\n"
      ">>> if random() < 0.5: a, b = b, a\n>>> assert a in (1, 2)\n>>> print(a, b)\n2 1\n";
  EXPECT_EQ(render(parse(typed)), canonical);
}

TEST(Parse, ReadsOtherWaysToWriteLists) {
  const std::string typed =
      ">>> from random import random, sample\n>>> [a, b] = sample([1, 2], 2);\n>>> [a, b] = [b, "
      "a]\n";
  const std::string canonical =
      ">>> from random import random\n>>> from random import sample\n>>> a, b = sample((1, 2), "
      "k=2)\n>>> a, b = b, a\n";
  EXPECT_EQ(render(parse(typed)), canonical);
  EXPECT_EQ(render(parse(">>> a, b = [1, 2,]\n")), ">>> a = 1\n>>> b = 2\n");
}

TEST(Parse, ReadsCarriageReturnsAsLineEnds) {
  EXPECT_EQ(render(parse(">>> a = 1\r\n>>> print('a', a)\r\na 1\r\n")),
            ">>> a = 1\n>>> print('a', a)\na 1\n");
}

TEST(Parse, ReadsThePapersSlip) {
  const std::string text =
      ">>> from random import random\n>>> a = 1\n>>> b = 2\n>>> c = 3\n"
      ">>> if random() < 0.5: a, b = b, a\n... else: a, c = c, a\n";
  const Program program = parse(text);
  ASSERT_EQ(program.table().mixtures.size(), 1u);
  const Mixture& slip = program.table().mixtures[0];
  EXPECT_EQ(slip.probability(0), 0.5);
  EXPECT_EQ(slip.probability(1), 0.5);
  EXPECT_EQ(slip.outcomes[0], (Permute{{0, 1}, {1, 0}}));
  EXPECT_EQ(slip.outcomes[1], (Permute{{0, 2}, {2, 0}}));
  EXPECT_EQ(render(program), text);
}

TEST(Parse, AContradictionIsFoundByExecuting) {
  const Execution execution =
      execute(parse(">>> a = 1\n>>> b = 2\n>>> a, b = b, a\n>>> print('a', a)\na 1\n"));
  EXPECT_EQ(execution.contradiction, 3u);
}

struct Wrong {
  const char* text;
  const char* message;
};

class ParseErrors : public ::testing::TestWithParam<Wrong> {};

TEST_P(ParseErrors, SayWhereAndWhat) {
  try {
    parse(GetParam().text, "t.txt");
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith(GetParam().message));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, ParseErrors,
    ::testing::Values(
        Wrong{"", "t.txt:1:1: a trace must give its variables a first value"},
        Wrong{">>> a = 1\n>>> a, b = b, a\n", "t.txt:2:8: 'b' must get a first value"},
        Wrong{">>> a = 1\n>>> b = 1\n", "t.txt:2:9: each variable must hold a value of its own"},
        Wrong{">>> a = 1\n>>> a = 2\n", "t.txt:2:5: 'a' must get its first value once"},
        Wrong{">>> a = 1\n>>> b = 2\n>>> a, b = b, b\n",
              "t.txt:3:12: the right side must hold the same"},
        Wrong{">>> a = 1\n>>> b = 2\n>>> a, a = b, a\n", "t.txt:3:5: a variable must stand once"},
        Wrong{">>> a = 1\n>>> print('a', a)\n", "t.txt:2:5: print must be followed by its output"},
        Wrong{">>> a = 1\n>>> print('a', a)\na 7\n", "t.txt:3:3: '7' is not a value"},
        Wrong{">>> a = 1\n>>> print('a', a)\nb 1\n", "t.txt:3:1: the output must name 'a'"},
        Wrong{">>> a = 1\n>>> print('a', a)\na\n", "t.txt:3:2: the output must go on with a value"},
        Wrong{">>> a = 1\n>>> print('a', a)\na 1 2\n", "t.txt:3:4: the output must end here"},
        Wrong{">>> a = 1\n>>> print('b', a)\na 1\n", "t.txt:2:16: the label 'b' must be"},
        Wrong{">>> a = 1\nhello\n", "t.txt:2:1: only print may be followed by an output line"},
        Wrong{"hello\n", "t.txt:1:1: a line outside an example"},
        Wrong{">>> a = 1\n>>> if random() < 0.5: pass\n",
              "t.txt:2:8: 'from random import random' must come before"},
        Wrong{">>> from random import random\n>>> a = 1\n>>> if random() < 1.5: pass\n",
              "t.txt:3:19: a threshold must be"},
        Wrong{
            ">>> from os import environ\n>>> a = 1\n>>> if float(environ['LOAD_2']) < 0.5: pass\n",
            "t.txt:3:22: the hidden variable must be 'LOAD_1'"},
        Wrong{">>> from numpy import random\n", "t.txt:1:10: an import must be"},
        Wrong{">>> a = 'x\n", "t.txt:1:9: a string must end"},
        Wrong{">>> a = 1 + 1\n", "t.txt:1:11: '+' is not part of the trace language"},
        Wrong{">>> a = 1.5\n", "t.txt:1:9: a value must be a whole number"},
        Wrong{">>> a = 1\n>>> assert a < 1\n", "t.txt:2:14: '==', '!=' or 'in'"},
        Wrong{">>> a = 1\n>>> assert a in (1)\n", "t.txt:2:19: a tuple of one value"},
        Wrong{">>> a = 1\n>>> a, = work1(a)\n", "t.txt:2:10: 'work1' must be defined"},
        Wrong{">>> from random import sample\n>>> a, b = sample((1, 2), k=3)\n",
              "t.txt:2:29: k must be the number of values"},
        Wrong{">>> if = 1\n", "t.txt:1:5"},
        Wrong{">>>\n", "t.txt:1:5: a prompt must be followed"}));

}  // namespace
}  // namespace shellgame
