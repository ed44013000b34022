// A program and its automaton say the same: the true state stays possible, symbols are the text.
#include "shellgame/automata/from_program.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "shellgame/automata/automaton_file.h"
#include "shellgame/programs/execute.h"
#include "shellgame/programs/parse.h"
#include "shellgame/programs/render.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/text/error.h"
#include "tests/support/program_generator.h"

namespace shellgame {
namespace {

std::uint64_t rank_of(const State& state) {
  const std::vector<int> images(state.begin(), state.end());
  return Permutation::from_images(images).rank(static_cast<int>(state.size()));
}

RC_GTEST_PROP(FromProgram, EveryExecutionIsAPathOfTheAutomaton, ()) {
  const Program program = *arbitrary_program(3);
  RC_PRE(program.names().size() <= 8);
  const ProgramWord read = word_of(program);
  const Execution run = execute(program, 3);
  const StateSpace& space = read.automaton.space();
  auto state = static_cast<StateId>(rank_of(run.initial));
  std::size_t commands = 0;
  for (std::size_t t = 0; t < read.word.size(); ++t) {
    const Symbol& symbol = read.automaton.symbol(read.word[t]);
    RC_ASSERT(allows(space, symbol, state));
    if (!is_command(program.events()[read.events[t]].kind)) {
      RC_ASSERT(symbol.is_reveal_only());
      continue;
    }
    RC_ASSERT(symbol.is_transition_only());
    const auto next = static_cast<StateId>(rank_of(run.states[commands++]));
    bool reached = false;
    for (const auto& [to, weight] : successors(space, symbol, state))
      reached = reached || (to == next && weight > 0);
    RC_ASSERT(reached);
    state = next;
  }
}

TEST(FromProgram, SymbolsAreTheTextAndProbabilitiesAreThoseWritten) {
  const Program program = parse(
      ">>> from random import random\n>>> a = 1\n>>> b = 2\n"
      ">>> if random() < 0.3: a, b = b, a\n...\n>>> print('a', a)\na 2\n");
  const ProgramWord read = word_of(program);
  EXPECT_EQ(read.automaton.symbol(0).name, "if random() < 0.3: a, b = b, a");
  EXPECT_EQ(read.automaton.symbol(1).name, "print('a', a)\na 2");
  const auto next = successors(read.automaton.space(), read.automaton.symbol(0), 0);
  ASSERT_EQ(next.size(), 2u);
  EXPECT_EQ(next[0].second, Rational(7, 10));
  EXPECT_EQ(next[1].second, Rational(3, 10));
}

// A print that names a variable twice has a symbol for each place, or the second value would be
// taken for the first.
TEST(FromProgram, EveryPartOfAPrintHasItsOwnReveal) {
  const Program program = parse(
      ">>> a = 1\n>>> b = 2\n>>> print('a', a, 'a', a)\na 1 a 2\n"
      ">>> print('a', a, 'a', a)\na 1 a 1\n");
  const ProgramWord read = word_of(program, Prints::kByVariable);
  ASSERT_EQ(read.word.size(), 4u);
  const std::vector<ValueId> expected = {0, 1, 0, 0};
  for (std::size_t t = 0; t < 4; ++t) {
    const auto& cells = std::get<Cells>(read.automaton.symbol(read.word[t]).reveal).cells;
    ASSERT_EQ(cells.size(), 1u);
    EXPECT_EQ(cells[0].values, std::vector<ValueId>{expected[t]}) << t;
  }
  const std::string text = write_automaton(read.automaton, read.word);
  EXPECT_EQ(parse_automaton(text, "again").word, read.word);
}

// Equal commands of a parsed trace are one symbol, though the parser's table has them twice.
TEST(FromProgram, AParsedTraceIsAnAutomatonThatCanBeWrittenAndRead) {
  const Sampler sampler(parse_task(
      "group = 'S3'\nuncertainty = 'branching'\nmoves = 'swaps'\ncommands = 20\nspacing = 2\n",
      "task.toml"));
  const ProgramWord read = word_of(parse(render(sampler.sample(0, 0))));
  EXPECT_LE(read.automaton.symbols().size(), 12u);
  const std::string text = write_automaton(read.automaton, read.word);
  const AutomatonFile again = parse_automaton(text, "again");
  EXPECT_EQ(write_automaton(again.automaton, again.word), text);
}

// Commands and single reveals of a small task: 6 permutations of S_3 (or 3 swaps), 9 reveals; and
// the generator chooses blindly.
TEST(FromProgram, ATaskHasItsWholeAlphabet) {
  const auto symbols = [](const std::string& toml) {
    return automaton_of(Sampler(parse_task(toml, "task.toml"))).symbols().size();
  };
  EXPECT_EQ(symbols("group = 'S3'\n"), 15u);
  EXPECT_EQ(symbols("group = 'S3'\nuncertainty = 'branching'\nmoves = 'swaps'\n"), 12u);
  EXPECT_EQ(symbols("group = 'S3'\nmoves = 'swaps'\nreveal-forms = 'unequal'\n"), 21u);
  EXPECT_THROW(symbols("group = 'S3'\nuncertainty = 'skipped'\n"), UsageError);
  const Automaton automaton =
      automaton_of(Sampler(parse_task("group = 'S3'\nmoves = 'swaps'\n", "task.toml")));
  EXPECT_TRUE(automaton.is_blind());
  const std::string text = write_automaton(automaton);
  EXPECT_EQ(write_automaton(parse_automaton(text, "again").automaton), text);
}

}  // namespace
}  // namespace shellgame
