// Automata: their file form, their checks, and the paper's small examples under every filter.
#include "shellgame/automata/automaton.h"

#include <gtest/gtest.h>

#include "shellgame/automata/automaton_file.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/system/error.h"

namespace shellgame {
namespace {

constexpr const char* kMontyHall = R"(
states = ["car 1", "car 2", "car 3"]
start = "uniform"
word = ["open 3"]
[symbol."open 2"]
reveal = ["car 1", "car 3"]
policy = { "car 1" = "1/2", "car 3" = 1 }
[symbol."open 3"]
reveal = ["car 1", "car 2"]
policy = { "car 1" = "1/2", "car 2" = 1 }
)";

TEST(Automaton, MontyHallWithItsPolicyGivesTwoThirds) {
  const AutomatonFile file = parse_automaton(kMontyHall, "monty.toml");
  const auto filter = make_filter(file.automaton, {.kind = FilterKind::kRational});
  const StepReport report = filter->step(file.word[0]);
  EXPECT_DOUBLE_EQ(report.survival, 0.5);
  EXPECT_EQ(filter->belief(), (std::vector<double>{1.0 / 3, 2.0 / 3, 0}));
}

TEST(Automaton, JointCycleHalvesTheLinearStateAndKeepsTheBelief) {
  const AutomatonFile file = parse_automaton(R"(
states = ["1", "2", "3"]
start = { "2" = "1/2", "3" = "1/2" }
[symbol.mix]
next = { "1" = "1", "2" = { "1" = 0.5, "2" = 0.5 }, "3" = { "1" = 0.5, "3" = 0.5 } }
[symbol.look]
reveal = ["2", "3"]
)",
                                             "cycle.toml");
  const auto linear = make_filter(file.automaton, {.kind = FilterKind::kLinear});
  const auto exact = make_filter(file.automaton);
  for (int cycle = 1; cycle <= 3; ++cycle) {
    for (SymbolId symbol : {0u, 1u}) {
      linear->step(symbol);
      exact->step(symbol);
    }
    const double half = std::ldexp(0.5, -cycle);
    EXPECT_EQ(linear->state(), (std::vector<double>{0, half, half}));
    EXPECT_EQ(exact->belief(), (std::vector<double>{0, 0.5, 0.5}));
  }
}

}  // namespace
}  // namespace shellgame
