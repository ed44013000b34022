// An automaton that carries a policy, against the known odds.
#include "shellgame/automata/automaton.h"

#include <gtest/gtest.h>

#include "shellgame/automata/example_automata.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

TEST(Automaton, MontyHallWithItsPolicyGivesTwoThirds) {
  const AutomatonFile file = example_automaton("monty-hall");
  const auto filter = make_filter(file.automaton, {.kind = FilterKind::kRational});
  const StepReport report = filter->step(file.word[0]);
  EXPECT_DOUBLE_EQ(report.survival, 0.5);
  EXPECT_EQ(filter->belief(), (std::vector<double>{1.0 / 3, 2.0 / 3, 0}));
}

Automaton of_one_symbol(Reveal reveal, std::vector<Rational> policy = {}) {
  return Automaton(StateSpace::listed({"a", "b", "c"}), Distribution{{{0, 1}}, {}},
                   {Symbol{"x", std::move(reveal), Stay{}, std::move(policy)}});
}

TEST(Automaton, ALikelihoodIsBlindOnlyWhereItsWeightsAreEqual) {
  const Rational half(1, 2), quarter(1, 4);
  EXPECT_TRUE(of_one_symbol(AllStates{}).is_blind());
  EXPECT_TRUE(of_one_symbol(StateWeights{{half, half, 0}}).is_blind());
  EXPECT_FALSE(of_one_symbol(StateWeights{{half, quarter, 0}}).is_blind());
}

// One of them would be ignored.
TEST(Automaton, ASymbolHasALikelihoodOrAPolicy) {
  EXPECT_THROW(of_one_symbol(StateWeights{{1, 1, 1}}, {1, 1, 1}), UsageError);
  EXPECT_NO_THROW(of_one_symbol(AllStates{}, {1, 1, 1}));
}

TEST(Automaton, OrdersOfSeveralGroupsAreCountedBeforeTheyAreListed) {
  const StateSpace space = StateSpace::orders(std::make_shared<Names>(Names::standard(16)));
  ShuffledValues low, high;
  for (VariableId v = 0; v < 8; ++v) {
    low.variables.push_back(v);
    low.values.push_back(v);
    high.variables.push_back(static_cast<VariableId>(v + 8));
    high.values.push_back(static_cast<ValueId>(v + 8));
  }
  ShuffledValues more = high;
  EXPECT_EQ(
      orders_of(StateSpace::orders(std::make_shared<Names>(Names::standard(8))), {low}).size(),
      40320u);
  try {
    orders_of(space, {low, high, more, more});  // 8!^4 is beyond 2^61
    FAIL() << "more orders than memory has were listed";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("available"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace shellgame
