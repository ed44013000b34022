// Filters against exact rationals on random automata and traces, their properties, and how they
// take evidence that leaves nothing.
#include "shellgame/beliefs/filter.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "shellgame/automata/automaton_file.h"
#include "shellgame/automata/example_automata.h"
#include "shellgame/automata/from_program.h"
#include "shellgame/automata/sample_word.h"
#include "shellgame/tasks/sampler.h"
#include "shellgame/tasks/task_file.h"
#include "tests/support/belief_cases.h"
#include "tests/support/shortened.h"

namespace shellgame {
namespace {

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

// Runs all joint filters along the word beside the rational one.
void expect_agreement(const Automaton& automaton, const std::vector<SymbolId>& word) {
  const auto reference = make_filter(automaton, {.kind = FilterKind::kRational});
  std::vector<std::unique_ptr<Filter>> filters;
  for (FilterKind kind :
       {FilterKind::kExact, FilterKind::kLog, FilterKind::kLinear, FilterKind::kSparse})
    filters.push_back(make_filter(automaton, {.kind = kind}));
  filters.push_back(make_exact_filter(automaton));
  for (SymbolId symbol : word) {
    const StepReport expected = reference->step(symbol);
    const std::vector<double> belief = reference->belief();
    EXPECT_NEAR(std::accumulate(belief.begin(), belief.end(), 0.0), 1, 1e-12);
    for (const auto& filter : filters) {
      const StepReport report = filter->step(symbol);
      ASSERT_NEAR(report.survival, expected.survival, 1e-12);
      ASSERT_LT(distance(filter->belief(), belief), 1e-12);
      ASSERT_NEAR(filter->log_norm(), reference->log_norm(), 1e-10);
      ASSERT_NEAR(filter->entropy(), reference->entropy(), 1e-10);
      ASSERT_EQ(filter->support(), reference->support());
    }
  }
}

TEST(Filter, ThousandsOfRandomAutomataAgreeWithRationals) {
  for (int index = 0; index < shortened(3000, 300); ++index) {
    RandomStream stream(4, static_cast<std::uint64_t>(index), Lane::kSequence);
    const BeliefCase one = random_case(stream, 8, 12);
    expect_agreement(one.automaton, one.word);
    if (HasFatalFailure()) FAIL() << "case " << index;
  }
}

Task task_of(const std::string& toml) { return parse_task(toml, "task.toml"); }

const char* const kTasks[] = {
    "group = 'S3'\nuncertainty = 'branching'\nmoves = 'swaps'\ncommands = 12\nspacing = 2\n",
    "group = 'S4'\nuncertainty = 'skipped'\ncommands = 8\nspacing = 1\nprobability = 0.3\n",
    "group = 'S4'\nuncertainty = 'unknown-start'\ncommands = 10\nspacing = 2\n"
    "reveal-forms = 'unequal,member,print'\n",
    "group = 'S5'\nuncertainty = 'branching,unknown-start'\ncommands = 6\nspacing = 2\n"
    "reveal-count = 2\nreveal-forms = 'equal,print'\n",
    "group = 'A4'\nuncertainty = 'branching'\nmixtures = ['0.5 (1 2 3), 0.25 (1 2)(3 4), 0.25 "
    "()']\n"
    "commands = 10\nspacing = 3\nfull-reveal-period = 5\n"};

TEST(Filter, TracesOfEveryUncertaintyAgreeWithRationals) {
  for (const char* toml : kTasks) {
    const Sampler sampler(task_of(toml));
    for (std::uint64_t index = 0; index < (sampler.names()->size() > 4 ? 4u : 40u); ++index) {
      const ProgramWord read = word_of(sampler.sample(7, index));
      expect_agreement(read.automaton, read.word);
      if (HasFatalFailure()) FAIL() << toml << " index " << index;
    }
  }
}

// 9 variables: passes over vectors, a hash, and the change from one to the other.
TEST(Filter, VectorsAndHashesOfManyOrdersAgree) {
  const Sampler sampler(task_of(
      "group = 'S9'\nuncertainty = 'branching'\nmoves = 'swaps'\ncommands = 24\nspacing = 3\n"));
  const ProgramWord read = word_of(sampler.sample(3, 0));
  const auto dense = make_filter(read.automaton);
  const auto single = make_filter(read.automaton, {.precision = Precision::kFp32});
  const auto sparse = make_filter(read.automaton, {.kind = FilterKind::kSparse});
  const auto adaptive = make_exact_filter(read.automaton);
  for (SymbolId symbol : read.word) {
    const double expected = sparse->step(symbol).survival;
    EXPECT_NEAR(dense->step(symbol).survival, expected, 1e-12);
    EXPECT_NEAR(adaptive->step(symbol).survival, expected, 1e-12);
    EXPECT_NEAR(single->step(symbol).survival, expected, 1e-5);
    for (VariableId v = 0; v < 9; ++v) {
      const std::vector<double> row = sparse->predict(v);
      EXPECT_LT(distance(dense->predict(v), row), 1e-12);
      EXPECT_LT(distance(adaptive->predict(v), row), 1e-12);
      EXPECT_LT(distance(single->predict(v), row), 1e-5);
    }
  }
  EXPECT_EQ(dense->support(), sparse->support());
  EXPECT_NEAR(dense->entropy(), sparse->entropy(), 1e-10);
}

TEST(Filter, RelabellingStatesCommutesWithFiltering) {
  for (std::uint64_t index = 0; index < 300; ++index) {
    RandomStream stream(5, index, Lane::kSequence);
    const BeliefCase one = random_case(stream, 6, 10);
    const auto m = static_cast<StateId>(one.automaton.space().size());
    std::vector<StateId> name(m);  // state q becomes name[q]
    std::iota(name.begin(), name.end(), 0u);
    for (StateId q = m; q-- > 1;) std::swap(name[q], name[stream.below(q + 1)]);
    nlohmann::json json = to_json(one), other = json;
    for (StateId q = 0; q < m; ++q) {
      other["start"][name[q]] = json["start"][q];
      for (std::size_t t = 0; t < one.word.size(); ++t) {
        other["steps"][t]["weights"][name[q]] = json["steps"][t]["weights"][q];
        nlohmann::json column = json["steps"][t]["columns"][q];
        for (auto& entry : column) entry[0] = name[entry[0].get<StateId>()];
        other["steps"][t]["columns"][name[q]] = column;
      }
    }
    const BeliefCase plain = from_json(json), renamed = from_json(other);
    const auto a = make_filter(plain.automaton, {.kind = FilterKind::kRational});
    const auto b = make_filter(renamed.automaton, {.kind = FilterKind::kRational});
    for (std::size_t t = 0; t < plain.word.size(); ++t) {
      a->step(plain.word[t]);
      b->step(renamed.word[t]);
      const std::vector<double> p = a->belief(), q = b->belief();
      for (StateId k = 0; k < m; ++k) EXPECT_EQ(p[k], q[name[k]]);
    }
  }
}

TEST(Filter, MarginalsOfTheJointAreTheMarginalFilterBeforeAnyReveal) {
  const Sampler sampler(task_of(
      "group = 'S5'\nuncertainty = 'branching'\nreveals = 'none'\ncommands = 20\nspacing = 20\n"));
  for (std::uint64_t index = 0; index < 20; ++index) {
    const ProgramWord read = word_of(sampler.sample(1, index));
    const auto joint = make_filter(read.automaton);
    const auto marginal = make_filter(read.automaton, {.kind = FilterKind::kMarginal});
    for (SymbolId symbol : read.word) {
      joint->step(symbol);
      marginal->step(symbol);
      EXPECT_LT(distance(joint->marginals(), marginal->marginals()), 1e-12);
      EXPECT_LT(distance(joint->marginals(), marginal->state()), 1e-12);
    }
  }
}

constexpr const char* kHalving = R"(
states = ["in", "out"]
start = "in"
[symbol.cycle]
reveal = ["in"]
next = { "in" = { "in" = 0.5, "out" = 0.5 }, "out" = "out" }
[symbol.never]
reveal = ["out"]
)";

TEST(Filter, ImpossibleEvidenceNamesTheStepAndTheSymbol) {
  const AutomatonFile file = parse_automaton(kHalving, "halving.toml");
  for (FilterKind kind : {FilterKind::kExact, FilterKind::kLog, FilterKind::kLinear,
                          FilterKind::kRational, FilterKind::kSparse}) {
    const auto filter = make_filter(file.automaton, {.kind = kind});
    try {
      filter->step(1);
      FAIL() << "impossible evidence passed in the filter " << to_string(kind);
    } catch (const ZeroEvidence& error) {
      EXPECT_EQ(error.step(), 1u);
      EXPECT_FALSE(error.underflow());
      EXPECT_STREQ(error.what(),
                   "step 1: 'never' is impossible: no state that can be reached allows it");
    }
  }
}

TEST(Filter, UnderflowIsToldFromImpossibility) {
  const AutomatonFile file = parse_automaton(kHalving, "halving.toml");
  const auto linear =
      make_filter(file.automaton, {.kind = FilterKind::kLinear, .precision = Precision::kFp16});
  for (int cycle = 1; cycle <= 25; ++cycle) linear->step(0);
  try {
    linear->step(0);
    FAIL() << "a vanished state passed";
  } catch (const ZeroEvidence& error) {
    EXPECT_TRUE(error.underflow());
    EXPECT_EQ(error.step(), 26u);
    EXPECT_NE(std::string(error.what()).find("underflowed in fp16"), std::string::npos);
  }
}

TEST(Filter, RenormalisedAndLogFiltersSurviveAMillionSteps) {
  const AutomatonFile file = parse_automaton(kHalving, "halving.toml");
  for (const FilterOptions& options :
       {FilterOptions{.precision = Precision::kFp16},
        FilterOptions{.precision = Precision::kE4m3, .flush = true},
        FilterOptions{.kind = FilterKind::kLog},
        FilterOptions{.kind = FilterKind::kLog, .precision = Precision::kFp32}}) {
    const auto filter = make_filter(file.automaton, options);
    for (int step = 0; step < 1'000'000; ++step) {
      filter->step(0);
      if (step == 0) continue;
    }
    EXPECT_NEAR(filter->belief()[0], 0.5, 0.02) << to_string(options.kind);
  }
}

TEST(Filter, AGainHoldsTheCycleThatItFits) {
  const AutomatonFile file = parse_automaton(kHalving, "halving.toml");
  FilterOptions options{.kind = FilterKind::kGain, .precision = Precision::kFp16};
  options.gains = {2, 1};
  const auto filter = make_filter(file.automaton, options);
  for (int step = 0; step < 1000; ++step) filter->step(0);
  EXPECT_EQ(filter->state()[0], 1);
}

TEST(Filter, HardResetsKeepTheNormAndMasksLoseIt) {
  const AutomatonFile file = parse_automaton(R"(
states = ["1", "2"]
start = "1"
[symbol.mix]
next = { "1" = { "1" = 0.5, "2" = 0.5 }, "2" = { "1" = 0.5, "2" = 0.5 } }
[symbol.see]
reveal = ["1"]
[symbol.reset]
reset = "uniform"
)",
                                             "reset.toml");
  const auto mask = make_filter(file.automaton, {.kind = FilterKind::kLinear});
  const auto hard = make_filter(file.automaton, {.kind = FilterKind::kLinear, .hard_resets = true});
  for (int cycle = 1; cycle <= 50; ++cycle) {
    for (SymbolId symbol : {0u, 1u}) {
      mask->step(symbol);
      hard->step(symbol);
    }
    EXPECT_EQ(mask->state(), (std::vector<double>{std::ldexp(1.0, -cycle), 0}));
    EXPECT_EQ(hard->state(), (std::vector<double>{1, 0}));
  }
  mask->step(2);
  hard->step(2);
  EXPECT_EQ(mask->state()[0], std::ldexp(1.0, -51));
  EXPECT_EQ(hard->state(), (std::vector<double>{0.5, 0.5}));
}

TEST(Filter, AHardResetRecoversWhatHasUnderflowedAndRefusesTheImpossible) {
  const AutomatonFile file = parse_automaton(R"(
states = ["1", "2", "3"]
start = "1"
[symbol.mix]
reveal = ["1"]
next = { "1" = { "1" = 0.5, "2" = 0.5 }, "2" = "2", "3" = "3" }
[symbol.see]
reveal = ["1"]
[symbol.never]
reveal = ["3"]
)",
                                             "recover.toml");
  const FilterOptions options{
      .kind = FilterKind::kLinear, .precision = Precision::kFp16, .hard_resets = true};
  const auto filter = make_filter(file.automaton, options);
  filter->step(0);
  EXPECT_FALSE(filter->step(1).recovered);
  EXPECT_THROW(make_filter(file.automaton, options)->step(2), ZeroEvidence);
}

// Kernels of order spaces, too: the hash is keyed by orders, kernels by numbers.
TEST(Filter, KernelsOfOrdersAgreeInEveryFilterAndAreRefusedByTheMarginalOne) {
  const AutomatonFile file = parse_automaton(R"toml(
variables = ["a", "b"]
start = [1, 2]
[symbol.drift]
next = { "[1,2]" = { "[1,2]" = 0.25, "[2,1]" = 0.75 }, "[2,1]" = "uniform" }
[symbol.see]
reveal = { a = 2 }
[symbol.exactly]
reveal = ["[2,1]"]
)toml",
                                             "drift.toml");
  expect_agreement(file.automaton, {0, 0, 1, 0, 2});
  EXPECT_THROW(make_filter(file.automaton, {.kind = FilterKind::kMarginal}), UsageError);
}

// 1 / 1e-40 is infinite in fp32.
TEST(Filter, RareEvidenceKeepsManyOrdersFinite) {
  const AutomatonFile file = parse_automaton(
      "variables = 9\nstart = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
      "[symbol.slip]\nshuffle = '1e-40 (1 2), 0.9999999999999999999999999999999999999999 ()'\n"
      "[symbol.see]\nreveal = { a = 2 }\n",
      "rare.toml");
  const auto filter = make_filter(file.automaton, {.precision = Precision::kFp32});
  filter->step(0);
  filter->step(1);
  EXPECT_EQ(filter->predict(0)[1], 1);
  filter->step(0);
  EXPECT_NEAR(filter->predict(0)[1], 1, 1e-6);
}

TEST(Filter, NumbersTooLargeForTheFormatAreAnError) {
  const AutomatonFile file = parse_automaton(
      "states = ['a', 'b']\nstart = 'uniform'\n[symbol.x]\nlikelihood = { a = 1000, b = 500 }\n",
      "large.toml");
  for (FilterKind kind : {FilterKind::kExact, FilterKind::kLinear}) {
    const auto filter = make_filter(file.automaton, {.kind = kind, .precision = Precision::kE4m3});
    EXPECT_THROW(filter->step(0), Error) << to_string(kind);
  }
}

TEST(Filter, ImpossibleEvidenceOfManyOrdersIsNamed) {
  const AutomatonFile file = parse_automaton(
      "variables = 9\nstart = 'uniform'\n[symbol.one]\nreveal = { a = 1 }\n"
      "[symbol.two]\nreveal = { a = 2 }\n",
      "nine.toml");
  const auto filter = make_filter(file.automaton);
  filter->step(0);
  try {
    filter->step(1);
    FAIL() << "impossible evidence passed";
  } catch (const ZeroEvidence& error) {
    EXPECT_FALSE(error.underflow());
  }
}

TEST(Filter, TheMarginalFilterReportsARevealOfAZeroEntry) {
  const AutomatonFile file = parse_automaton(R"(
variables = ["a", "b", "c"]
start = [1, 2, 3]
[symbol.wrong]
reveal = { a = 2 }
)",
                                             "wrong.toml");
  const auto filter = make_filter(file.automaton, {.kind = FilterKind::kMarginal});
  EXPECT_EQ(filter->step(0).zero_reveals, 1u);
}

TEST(Filter, FrequenciesOfDrawnWordsAreTheNextSymbolChances) {
  for (std::uint64_t index = 0; index < 10; ++index) {
    RandomStream stream(6, index, Lane::kSequence);
    const BeliefCase one = random_case(stream, 4, 1);
    const WordSampler sampler(one.automaton);
    std::vector<double> seen(one.automaton.symbols().size());
    constexpr int kWords = 40'000;
    for (int i = 0; i < kWords; ++i) seen[sampler.sample(1, stream).word[0]] += 1.0 / kWords;
    const auto filter = make_filter(one.automaton);
    const std::vector<double> chances = symbol_chances(one.automaton, filter->belief());
    EXPECT_NEAR(std::accumulate(chances.begin(), chances.end(), 0.0), 1, 1e-12);
    for (std::size_t s = 0; s < seen.size(); ++s)
      EXPECT_NEAR(seen[s], chances[s], 5 * std::sqrt(0.25 / kWords));
  }
}

// The point of a policy: filtered by it, the posterior of drawn words is right; without it, not.
TEST(Filter, OfDrawnWordsOnlyTheFilterWithThePolicyKnowsTheOdds) {
  const AutomatonFile file = example_automaton("monty-hall");
  EXPECT_FALSE(file.automaton.is_blind());
  const WordSampler sampler(file.automaton);
  RandomStream stream(1, 1, Lane::kSequence);
  double opened = 0, car2 = 0;
  for (int i = 0; i < 30'000; ++i) {
    const SampledWord word = sampler.sample(1, stream);
    if (word.word[0] != 1) continue;
    ++opened;
    car2 += word.states[0] == 1 ? 1 : 0;
  }
  const auto filter = make_filter(file.automaton);
  filter->step(1);
  EXPECT_NEAR(filter->belief()[1], 2.0 / 3, 1e-15);
  EXPECT_NEAR(car2 / opened, 2.0 / 3, 0.02);
}

}  // namespace
}  // namespace shellgame
