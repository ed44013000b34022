#include "shellgame/beliefs/smoothing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "shellgame/automata/automaton_file.h"
#include "shellgame/automata/from_program.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/tasks/sampler.h"
#include "shellgame/tasks/task_file.h"
#include "tests/support/belief_cases.h"

namespace shellgame {
namespace {

TEST(Smoothing, TheLastStepEqualsFiltering) {
  for (std::uint64_t index = 0; index < 300; ++index) {
    RandomStream stream(9, index, Lane::kSequence);
    const BeliefCase one = random_case(stream, 6, index % 30);
    const auto filter = make_filter(one.automaton);
    for (SymbolId symbol : one.word) filter->step(symbol);
    const auto posterior = smoothed(one.automaton, one.word);
    ASSERT_EQ(posterior.size(), one.word.size() + 1);
    EXPECT_EQ(posterior.back(), filter->belief());
  }
}

// A state that cannot be reached must not crowd out the one that can: B keeps all of what comes
// later, A halves it 1,200 times.
TEST(Smoothing, LongWordsDoNotUnderflow) {
  const AutomatonFile file = parse_automaton(R"toml(
states = ["A", "B", "C"]
start = "A"
[symbol.mix]
next = { A = { A = 0.5, C = 0.5 }, B = "B", C = "C" }
[symbol.look]
reveal = ["A", "B"]
)toml",
                                             "long.toml");
  std::vector<SymbolId> word;
  for (int cycle = 0; cycle < 1200; ++cycle) {
    word.push_back(0);
    word.push_back(1);
  }
  for (const auto& posterior : smoothed(file.automaton, word)) EXPECT_EQ(posterior[1], 0);
  EXPECT_EQ(smoothed(file.automaton, word)[0], (std::vector<double>{1, 0, 0}));
}

// An unknown start, all of whose variables are shown later: smoothing finds the start.
TEST(Smoothing, LaterOutputsTellAnUnknownStart) {
  const Sampler sampler(parse_task(
      "group = 'S4'\nuncertainty = 'unknown-start'\ncommands = 6\nspacing = 6\nreveal-count = 4\n",
      "task.toml"));
  for (std::uint64_t index = 0; index < 20; ++index) {
    const Program program = sampler.sample(5, index);
    const ProgramWord read = word_of(program);
    const State truth = execute(program, Sampler::python_seed(5, index)).initial;
    const std::vector<int> images(truth.begin(), truth.end());
    const std::uint64_t rank = Permutation::from_images(images).rank(4);
    const auto posterior = smoothed(read.automaton, read.word);
    EXPECT_NEAR(posterior[0][rank], 1, 1e-12);
    EXPECT_EQ(most_likely_path(read.automaton, read.word).states[0], rank);
  }
}

// As a matrix a reset of 8 variables has 40,320 x 40,320 entries.
TEST(Smoothing, AResetOfManyOrdersForgetsWithoutAMatrix) {
  const AutomatonFile file = parse_automaton(
      "variables = 8\nstart = 'uniform'\n[symbol.see]\nreveal = { a = 1 }\n"
      "[symbol.reset]\nreset = 'uniform'\n[symbol.look]\nreveal = { b = 1 }\n",
      "reset.toml");
  const std::vector<SymbolId> word = {0, 1, 2};
  const auto all = smoothed(file.automaton, word);
  const auto first = [](StateId q) { return q / 5040 == 0; };  // a = 1
  for (StateId q = 0; q < 40320; ++q) {
    ASSERT_NEAR(all[0][q], first(q) ? 1.0 / 5040 : 0, 1e-15);
    ASSERT_NEAR(all[1][q], first(q) ? 1.0 / 5040 : 0, 1e-15);
    ASSERT_NEAR(all[3][q], Permutation::unrank(8, q)(1) == 0 ? 1.0 / 5040 : 0, 1e-15);
  }
  const Path path = most_likely_path(file.automaton, word);
  EXPECT_EQ(path.states[0], 0u);
  EXPECT_EQ(path.states[1], 0u);
  EXPECT_EQ(path.states[2], path.states[3]);
  EXPECT_NEAR(path.log_probability, -2 * std::log(40320.0), 1e-12);
}

TEST(Smoothing, APathThatMemoryCannotHoldIsRefusedBeforeItIsMade) {
  const AutomatonFile file =
      parse_automaton("variables = 8\nstart = 'uniform'\n[symbol.wait]\n", "wait.toml");
  const std::vector<SymbolId> word(20'000'000, 0);  // 3 TB
  EXPECT_THROW(most_likely_path(file.automaton, word), Error);
}

TEST(Smoothing, AMostLikelyPathIsAPathOfThatProbability) {
  for (std::uint64_t index = 0; index < 200; ++index) {
    RandomStream stream(10, index, Lane::kSequence);
    const BeliefCase one = random_case(stream, 5, 8);
    const StateSpace& space = one.automaton.space();
    const Path path = most_likely_path(one.automaton, one.word);
    Rational probability;
    for (const auto& [q, weight] : expand(space, one.automaton.start())) {
      if (q == path.states[0]) probability = weight;
    }
    for (std::size_t t = 0; t < one.word.size(); ++t) {
      const Symbol& symbol = one.automaton.symbol(one.word[t]);
      probability *= reveal_weight(space, symbol, path.states[t]);
      Rational step;
      for (const auto& [q, weight] : successors(space, symbol, path.states[t])) {
        if (q == path.states[t + 1]) step = weight;
      }
      probability *= step;
    }
    ASSERT_GT(probability, 0);
    EXPECT_NEAR(std::log(to_double(probability)), path.log_probability, 1e-11);
  }
}

}  // namespace
}  // namespace shellgame
