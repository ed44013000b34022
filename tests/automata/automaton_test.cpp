// An automaton that carries a policy, against the known odds.
#include "shellgame/automata/automaton.h"

#include <gtest/gtest.h>

#include "shellgame/beliefs/examples.h"
#include "shellgame/beliefs/filter.h"

namespace shellgame {
namespace {

TEST(Automaton, MontyHallWithItsPolicyGivesTwoThirds) {
  const AutomatonFile file = example_automaton("monty-hall");
  const auto filter = make_filter(file.automaton, {.kind = FilterKind::kRational});
  const StepReport report = filter->step(file.word[0]);
  EXPECT_DOUBLE_EQ(report.survival, 0.5);
  EXPECT_EQ(filter->belief(), (std::vector<double>{1.0 / 3, 2.0 / 3, 0}));
}

}  // namespace
}  // namespace shellgame
