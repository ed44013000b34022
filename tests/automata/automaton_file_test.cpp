#include "shellgame/automata/automaton_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/automata/from_program.h"
#include "shellgame/programs/parse.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using ::testing::HasSubstr;

void expect_error(const std::string& toml, const std::string& part) {
  try {
    parse_automaton(toml, "file.toml");
    ADD_FAILURE() << "accepted: " << toml;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr(part));
    EXPECT_THAT(error.what(), HasSubstr("file.toml"));
  }
}

const std::string kTwo = "states = ['rain', 'sun']\nstart = 'sun'\n";

TEST(AutomatonFile, ErrorsNameSymbolAndState) {
  expect_error(kTwo + "[symbol.day]\nnext = { rain = 'sun', sun = { rain = 0.5, sun = 0.4 } }\n",
               "symbol 'day', state 'sun': the column must sum to 1, not 0.9");
  expect_error(kTwo + "[symbol.day]\nnext = { rain = 'sun' }\n",
               "symbol 'day', state 'sun': the column must sum to 1, and next does not name");
  expect_error(kTwo + "[symbol.day]\nnext = { rain = 'sum', sun = 'sun' }\n",
               "must name a state, not 'sum'; did you mean 'sun'?");
  expect_error(kTwo + "[symbol.day]\nreveal = ['snow']\n",
               "symbol 'day': the reveal must name a state, not 'snow'");
  expect_error(kTwo + "[symbol.day]\nreveal = ['sun']\npolicy = { rain = 1 }\n",
               "symbol 'day', state 'rain': the policy must be 0");
  expect_error(kTwo + "[symbol.day]\nreveal = ['sun']\npolicy = { sun = 0.5 }\n",
               "state 'rain': the policies of all symbols must sum to 1, not 0");
  expect_error(kTwo + "[symbol.day]\nlikelihood = 0.5\npolicy = 1\n",
               "file.toml:5:10: symbol 'day' must have a likelihood or a policy, not both");
  expect_error(kTwo + "[symbol.day]\nrevael = ['sun']\n",
               "symbol 'day' has no key 'revael'; did you mean 'reveal'?");
  expect_error(kTwo + "word = ['dya']\n[symbol.day]\nreveal = ['sun']\n",
               "not 'dya'; did you mean 'day'?");
  expect_error("states = ['a', 'a']\nstart = 'a'\n[symbol.x]\n", "'a' is there twice");
  expect_error(kTwo + "[symbol.day]\nlikelihood = { sun = -0.5 }\n",
               "symbol 'day', state 'sun': the likelihood must be at least 0, not -0.5");
  expect_error(kTwo + "[symbol.day]\nnext = { rain = 'sun', sun = { sun = '1/0' } }\n",
               "a fraction such as 1/3, not '1/0'");
  expect_error("variables = 3\nstart = [1, 2, 3]\n[symbol.x]\nshuffle = '0.5 (1 2), 0.4 ()'\n",
               "symbol 'x': the weights of a shuffle must sum to 1, not 0.9");
  expect_error("variables = 3\nstart = [1, 2, 2]\n[symbol.x]\nshuffle = '(1 2)'\n",
               "the start must give each variable and each value once");
  expect_error("variables = 3\nstart = [1, 2, 3]\n[symbol.x]\nreveal = { d = 1 }\n",
               "symbol 'x': the reveal must name a variable, not 'd'");
  expect_error("variables = ['b', 'a']\nstart = [1, 2]\n[symbol.x]\n",
               "variables must be in their order, and 'a' comes before 'b'");
  expect_error("variables = 2\nvalues = [2, 1]\nstart = [1, 2]\n[symbol.x]\n",
               "values must be in their order");
  expect_error("variables = 2\nvalues = ['x,y', 'z']\nstart = [1, 2]\n[symbol.x]\n",
               "a value must be a whole number or a text");
  expect_error("variables = 2\nstart = [1, 2, 1]\n[symbol.x]\n",
               "the start must have a value for each of 2 variables");
  expect_error("variables = 13\nstart = '[1,2]'\n[symbol.x]\n", "at most 12 variables");
  expect_error("states = ['uniform', 'b']\nstart = 'b'\n[symbol.x]\n",
               "states must not be called 'uniform'");
  expect_error("variables = 12\nstart = 'uniform'\n[symbol.x]\nlikelihood = 1\n",
               "can be given for at most 1048576 states");
}

TEST(AutomatonFile, WritingAndReadingGivesTheSame) {
  const AutomatonFile file = parse_automaton(R"toml(
variables = ["a", "b", "c"]
start = { "[2,1,3]" = "1/3", "[1,2,3]" = "2/3" }
word = ["mix", "see"]
[symbol.mix]
shuffle = "1/3 (1 2 3), 2/3 ()"
acts = "values"
[symbol.see]
reveal = { a = [1, 2] }
[symbol.reset]
reset = "uniform"
)toml",
                                             "file.toml");
  const std::string text = write_automaton(file.automaton, file.word);
  const AutomatonFile again = parse_automaton(text, "again.toml");
  EXPECT_EQ(write_automaton(again.automaton, again.word), text);
  EXPECT_EQ(again.word, file.word);
  for (SymbolId s = 0; s < 3; ++s) {
    for (StateId q = 0; q < 6; ++q) {
      const StateSpace& space = file.automaton.space();
      EXPECT_EQ(successors(space, file.automaton.symbol(s), q),
                successors(space, again.automaton.symbol(s), q));
      EXPECT_EQ(allows(space, file.automaton.symbol(s), q),
                allows(space, again.automaton.symbol(s), q));
    }
  }
}

TEST(AutomatonFile, APrintThatNamesAVariableTwiceIsWrittenOnce) {
  const auto written = [](const std::string& second) {
    const Program program =
        parse(">>> a = 1\n>>> b = 2\n>>> print('a', a, 'a', a)\na 1 a " + second + "\n", "trace");
    return write_automaton(word_of(program, Prints::kWhole).automaton, {});
  };
  const AutomatonFile again = parse_automaton(written("1"), "again.toml");
  ASSERT_EQ(again.automaton.symbols().size(), 1u);
  EXPECT_TRUE(allows(again.automaton.space(), again.automaton.symbol(0), 0));
  EXPECT_FALSE(allows(again.automaton.space(), again.automaton.symbol(0), 1));
  EXPECT_THROW(written("2"), UsageError);  // no state shows two values at once
}

TEST(AutomatonFile, SpecialCasesAreKnownByName) {
  const auto kind = [](const std::string& toml) {
    return parse_automaton(toml, "file.toml").automaton.kind();
  };
  EXPECT_THAT(kind(kTwo + "[symbol.x]\nnext = { rain = 'sun', sun = 'rain' }\n"),
              HasSubstr("a DFA"));
  EXPECT_THAT(kind(kTwo + "[symbol.x]\nnext = { rain = 'sun', sun = { sun = 0.5, rain = 0.5 } }\n"),
              HasSubstr("a weighted automaton"));
  EXPECT_THAT(kind("states = ['a', 'b']\nstart = 'uniform'\n[symbol.x]\nlikelihood = { a = 0.5, b "
                   "= 0.25 }\n"),
              HasSubstr("soft observations"));
  EXPECT_THAT(kind("states = ['a', 'b']\nstart = 'uniform'\n[symbol.x]\nreveal = ['a']\n"),
              HasSubstr("full reveals"));
  EXPECT_THAT(
      kind("states = ['a', 'b', 'c']\nstart = 'uniform'\n[symbol.x]\nreveal = ['a', 'c']\n"),
      HasSubstr("a PFSA-SR"));
}

}  // namespace
}  // namespace shellgame
