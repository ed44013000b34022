#include "shellgame/decay/stability.h"

#include <gtest/gtest.h>

#include <cmath>

#include "shellgame/automata/automaton_file.h"
#include "shellgame/automata/example_automata.h"
#include "shellgame/beliefs/sinkhorn.h"

namespace shellgame {
namespace {

TEST(Stability, ThePublishedNumbersOfHalvings) {
  const auto survived = [](Precision precision, bool flush) {
    return halvings_survived({.kind = FilterKind::kLinear, .precision = precision, .flush = flush},
                             5000);
  };
  EXPECT_EQ(survived(Precision::kFp16, false), 24u);
  EXPECT_EQ(survived(Precision::kBf16, false), 133u);
  EXPECT_EQ(survived(Precision::kFp32, false), 149u);
  EXPECT_EQ(survived(Precision::kFp64, false), 1074u);
  EXPECT_EQ(survived(Precision::kFp32, true), 126u);
  EXPECT_EQ(halvings_survived({.kind = FilterKind::kExact}, 5000), 5000u);
}

// The joint example starts at 1/2 and so lives one cycle less.
TEST(Stability, TheJointCycleVanishesOneCycleEarlierAsPredicted) {
  const AutomatonFile file = example_automaton("joint-cycle");
  std::vector<FilterOptions> filters;
  for (Precision precision : {Precision::kFp16, Precision::kBf16, Precision::kFp32})
    filters.push_back({.kind = FilterKind::kLinear, .precision = precision});
  filters.push_back({.kind = FilterKind::kGain, .precision = Precision::kFp16});
  filters.back().gains = fitted_gains(file.automaton, file.word, 10);
  const StabilityReport report =
      measure_stability(file.automaton, file.word, filters, {.cycles = 400});
  EXPECT_NEAR(report.joint_rate, std::log(0.5) / 2, 1e-12);
  const std::uint64_t cycles[] = {24, 133, 149};
  for (std::size_t i = 0; i < 3; ++i) {
    const Survival& one = report.filters[i];
    EXPECT_EQ(one.vanished_step, 2 * cycles[i]);  // the reveal that finds nothing
    EXPECT_NEAR(*one.predicted_step, 2.0 * static_cast<double>(cycles[i]), 1e-6);
    EXPECT_LT(*one.wrong_step, *one.vanished_step);
  }
  EXPECT_FALSE(report.filters[3].vanished_step);
  EXPECT_EQ(report.filters[3].worst, 0);
}

// A table of lives must not count what is no property of the recurrence.
TEST(Stability, FailuresOfARecurrenceHaveTypesOfTheirOwn) {
  const AutomatonFile large = parse_automaton(
      "states = ['a', 'b']\nstart = 'uniform'\n[symbol.x]\nlikelihood = { a = 1000, b = 500 }\n",
      "large.toml");
  const FilterOptions linear{.kind = FilterKind::kLinear, .precision = Precision::kE4m3};
  EXPECT_THROW(make_filter(large.automaton, linear)->step(0), NumberTooLarge);
  const StabilityReport report = measure_stability(large.automaton, {0}, {linear}, {.cycles = 3});
  EXPECT_EQ(report.filters[0].overflow_step, 1u);
  EXPECT_FALSE(report.filters[0].vanished_step);
  EXPECT_THROW(sinkhorn({1, 1, 0, 0}, 2, 1e-9, 10), NothingToDecode);
  static_assert(std::is_base_of_v<FilterFailure, NumberTooLarge> &&
                std::is_base_of_v<FilterFailure, NothingToDecode> &&
                std::is_base_of_v<FilterFailure, ZeroEvidence>);
}

// The threshold: the other variable must be shown before its mass is gone.
TEST(Stability, TheMarginalRecurrenceLivesIfRevealsComeOftenEnough) {
  for (std::uint64_t every : {20u, 23u, 24u, 25u, 40u}) {
    const AutomatonFile file = example_automaton("replenished-cycle", every);
    const StabilityReport report = measure_stability(
        file.automaton, file.word, {{.kind = FilterKind::kMarginal, .precision = Precision::kFp16}},
        {.cycles = 20});
    EXPECT_EQ(report.filters[0].vanished_step.has_value(), every > 24) << every;
    EXPECT_NEAR(*report.marginal_rate, 0, 1e-12);
  }
  const AutomatonFile file = example_automaton("marginal-cycle");
  const StabilityReport report = measure_stability(
      file.automaton, file.word, {{.kind = FilterKind::kMarginal, .precision = Precision::kFp16}},
      {.cycles = 200});
  EXPECT_NEAR(*report.marginal_rate, std::log(0.5) / 2, 1e-9);
  EXPECT_EQ(report.filters[0].vanished_step, 2 * 24u + 1);
}

}  // namespace
}  // namespace shellgame
