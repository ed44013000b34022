// Filters at their edges: one state, no word, chances of 0 and 1, evidence that is impossible at
// any step, numbers near the ends of a format; against fractions that share no code with them.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>

#include "shellgame/automata/automaton_file.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/beliefs/smoothing.h"
#include "shellgame/decay/stability.h"
#include "tests/support/belief_cases.h"
#include "tests/support/shortened.h"

namespace shellgame {
namespace {

constexpr FilterKind kJoint[] = {FilterKind::kExact, FilterKind::kLog, FilterKind::kLinear,
                                 FilterKind::kRational, FilterKind::kSparse};

using Fractions = std::map<StateId, Rational>;

// Z b / |Z b|, then T; nothing if Z b is nothing. `left` is |Z b|.
std::optional<Fractions> exact_step(const Automaton& automaton, SymbolId id, const Fractions& now,
                                    Rational& left) {
  const Symbol& symbol = automaton.symbol(id);
  Fractions kept, next;
  left = 0;
  for (const auto& [q, mass] : now) {
    const Rational weight = reveal_weight(automaton.space(), symbol, q);
    if (weight == 0 || mass == 0) continue;
    left += kept[q] = mass * weight;
  }
  if (left == 0) return std::nullopt;
  for (const auto& [q, mass] : kept) {
    for (const auto& [to, weight] : successors(automaton.space(), symbol, q))
      next[to] += mass * weight / left;
  }
  return next;
}

Fractions start_of(const Automaton& automaton) {
  Fractions start;
  for (const auto& [q, weight] : expand(automaton.space(), automaton.start())) start[q] += weight;
  return start;
}

void expect_belief(const Filter& filter, const Fractions& expected) {
  const std::vector<double> belief = filter.belief();
  for (StateId q = 0; q < belief.size(); ++q) {
    const auto found = expected.find(q);
    const double truth = found == expected.end() ? 0 : to_double(found->second);
    ASSERT_NEAR(belief[q], truth, 1e-12) << "state " << q << " after " << filter.steps();
    ASSERT_EQ(belief[q] == 0, truth == 0) << "mass that nothing put there, or lost";
  }
}

// Any word, also one that cannot be said: all filters hold the same, and fail at the same step.
void expect_fractions(const Automaton& automaton, const std::vector<SymbolId>& word) {
  std::vector<std::unique_ptr<Filter>> filters;
  for (FilterKind kind : kJoint) filters.push_back(make_filter(automaton, {.kind = kind}));
  filters.push_back(make_exact_filter(automaton));
  Fractions now = start_of(automaton);
  for (const auto& filter : filters) expect_belief(*filter, now);
  for (std::size_t t = 0; t < word.size(); ++t) {
    Rational left;
    const auto next = exact_step(automaton, word[t], now, left);
    for (const auto& filter : filters) {
      try {
        const StepReport report = filter->step(word[t]);
        ASSERT_TRUE(next) << "impossible evidence passed at step " << t + 1;
        ASSERT_NEAR(report.survival, to_double(left), 1e-12);
        ASSERT_NO_FATAL_FAILURE(expect_belief(*filter, *next));
      } catch (const ZeroEvidence& error) {
        ASSERT_FALSE(next) << error.what();
        ASSERT_FALSE(error.underflow());
        ASSERT_EQ(error.step(), t + 1);
        EXPECT_THROW(filter->step(word[t]), UsageError) << "a failed filter goes on";
        EXPECT_THROW(filter->belief(), UsageError);
      }
    }
    if (!next) return;
    now = *next;
  }
}

std::vector<SymbolId> any_word(const Automaton& automaton, RandomStream& stream,
                               std::size_t length) {
  std::vector<SymbolId> word;
  for (std::size_t t = 0; t < length; ++t)
    word.push_back(stream.below(static_cast<std::uint32_t>(automaton.symbols().size())));
  return word;
}

TEST(FilterEdges, AnyWordOfListedStatesIsFilteredAsByFractions) {
  for (int index = 0; index < shortened(2000, 200); ++index) {
    RandomStream stream(21, static_cast<std::uint64_t>(index), Lane::kSequence);
    const std::size_t states = index % 4 == 0 ? 1 : 6;
    const BeliefCase one = random_case(stream, states, static_cast<std::size_t>(index % 3));
    ASSERT_NO_FATAL_FAILURE(
        expect_fractions(one.automaton, any_word(one.automaton, stream, stream.below(9))))
        << "case " << index;
  }
}

Permute some_permute(RandomStream& stream, std::size_t n) {
  Permute result;
  for (VariableId v = 0; v < n; ++v) {
    result.targets.push_back(v);
    result.sources.push_back(v);
  }
  for (std::size_t i = n; i > 1; --i)
    std::swap(result.sources[i - 1], result.sources[stream.below(static_cast<std::uint32_t>(i))]);
  return result;
}

// Shuffles (also with weights of 0), cells (also several of one variable), sets, resets, kernels.
Automaton random_orders(RandomStream& stream, std::size_t n) {
  const auto any = [&](std::uint32_t below) { return stream.below(below); };
  const auto variable = [&] { return static_cast<VariableId>(any(static_cast<std::uint32_t>(n))); };
  const StateSpace space = StateSpace::orders(std::make_shared<Names>(Names::standard(n)));
  const auto size = static_cast<std::uint32_t>(space.size());
  const auto distribution = [&]() -> Distribution {
    Distribution result;
    if (any(3) == 0) {
      ShuffledValues all;
      for (VariableId v = 0; v < n; ++v) {
        all.variables.push_back(v);
        all.values.push_back(v);
      }
      result.groups.push_back(all);
    } else {
      result.states = {{any(size), Rational(1, 3)}, {any(size), Rational(2, 3)}, {any(size), 0}};
    }
    return result;
  };
  std::vector<Symbol> symbols(2 + any(4));
  for (std::size_t s = 0; s < symbols.size(); ++s) {
    symbols[s].name = "s" + std::to_string(s);
    switch (any(4)) {
      case 0: {
        Cells cells;
        for (std::uint32_t k = 0; k <= any(3); ++k) {
          Cell cell{variable(), {}};
          for (ValueId value = 0; value < n; ++value) {
            if (any(2) == 0) cell.values.push_back(value);
          }
          if (cell.values.empty()) cell.values.push_back(variable());
          cells.cells.push_back(cell);
        }
        symbols[s].reveal = cells;
        break;
      }
      case 1:
        symbols[s].reveal = StateSet{{any(size)}};
        break;
      default:
        break;
    }
    switch (any(4)) {
      case 0:
        symbols[s].transition = Reset{distribution()};
        break;
      case 1:
      case 2:
        symbols[s].transition = Shuffle{
            {some_permute(stream, n), {}, some_permute(stream, n)},
            any(3) == 0 ? std::vector<Rational>{0, 1, 0}
                        : std::vector<Rational>{Rational(1, 2), Rational(1, 6), Rational(1, 3)},
            any(2) == 0 ? Acts::kPositions : Acts::kValues};
        break;
      default:
        break;
    }
  }
  return Automaton(space, distribution(), symbols);
}

// The same automaton, its states only numbered.
Automaton listed_twin(const Automaton& orders) {
  const StateSpace& space = orders.space();
  std::vector<std::string> names;
  for (StateId q = 0; q < space.size(); ++q) names.push_back(space.name(q));
  std::vector<Symbol> symbols;
  for (const Symbol& symbol : orders.symbols()) {
    Symbol& twin = symbols.emplace_back();
    twin.name = symbol.name;
    StateWeights weights;
    Kernel kernel;
    for (StateId q = 0; q < space.size(); ++q) {
      weights.weights.push_back(reveal_weight(space, symbol, q));
      kernel.offsets.push_back(static_cast<std::uint32_t>(kernel.targets.size()));
      for (const auto& [to, weight] : successors(space, symbol, q)) {
        kernel.targets.push_back(to);
        kernel.weights.push_back(weight);
      }
    }
    kernel.offsets.push_back(static_cast<std::uint32_t>(kernel.targets.size()));
    twin.reveal = weights;
    twin.transition = kernel;
  }
  return Automaton(StateSpace::listed(names), Distribution{expand(space, orders.start()), {}},
                   symbols);
}

TEST(FilterEdges, AnyWordOfOrdersIsFilteredAsByFractionsAndAsOfListedStates) {
  for (int index = 0; index < shortened(600, 60); ++index) {
    RandomStream stream(22, static_cast<std::uint64_t>(index), Lane::kSequence);
    const Automaton orders = random_orders(stream, 1 + stream.below(4));
    const std::vector<SymbolId> word = any_word(orders, stream, stream.below(8));
    ASSERT_NO_FATAL_FAILURE(expect_fractions(orders, word)) << "case " << index;
    ASSERT_NO_FATAL_FAILURE(expect_fractions(listed_twin(orders), word)) << "case " << index;
  }
}

// 6 and 7 variables: the change from a hash to a vector, and passes instead of tables.
TEST(FilterEdges, AnyWordOfManyOrdersIsFilteredAsByTruthAndByDoubles) {
  for (int index = 0; index < shortened(40, 8); ++index) {
    RandomStream stream(23, static_cast<std::uint64_t>(index), Lane::kSequence);
    const Automaton orders = random_orders(stream, 6 + stream.below(2));
    const auto dense = make_filter(orders), adaptive = make_exact_filter(orders);
    const auto linear = make_filter(orders, {.kind = FilterKind::kLinear, .hard_resets = true});
    for (SymbolId symbol : any_word(orders, stream, 8)) {
      std::optional<StepReport> first;
      try {
        first = dense->step(symbol);
      } catch (const ZeroEvidence& error) {
        EXPECT_FALSE(error.underflow());
        EXPECT_THROW(adaptive->step(symbol), ZeroEvidence);
        EXPECT_THROW(linear->step(symbol), ZeroEvidence);
        break;
      }
      EXPECT_NEAR(adaptive->step(symbol).survival, first->survival, 1e-12);
      linear->step(symbol);
      const std::vector<double> a = dense->belief(), b = adaptive->belief(), c = linear->belief();
      for (std::size_t q = 0; q < a.size(); ++q) {
        ASSERT_NEAR(a[q], b[q], 1e-12) << "case " << index;
        ASSERT_NEAR(a[q], c[q], 1e-12) << "case " << index;
      }
    }
  }
}

// p(q_t | all symbols) by all that fractions know of before and after.
TEST(FilterEdges, SmoothingAndPathsAreThoseOfFractions) {
  for (int index = 0; index < shortened(600, 60); ++index) {
    RandomStream stream(24, static_cast<std::uint64_t>(index), Lane::kSequence);
    const bool listed = stream.below(2) == 0;
    const Automaton automaton =
        listed ? random_case(stream, 5, 0).automaton : random_orders(stream, 1 + stream.below(3));
    const std::vector<SymbolId> word = any_word(automaton, stream, stream.below(7));
    const StateSpace& space = automaton.space();
    std::vector<Fractions> before{start_of(automaton)};
    std::optional<std::size_t> impossible;
    Rational evidence = 1, left;
    Fractions best = before[0];  // of the likeliest path to each state
    for (std::size_t t = 0; t < word.size() && !impossible; ++t) {
      const auto next = exact_step(automaton, word[t], before.back(), left);
      if (!next) {
        impossible = t + 1;
        break;
      }
      before.push_back(*next);
      evidence *= left;
      Fractions longer;
      for (const auto& [q, mass] : best) {
        const Rational kept = mass * reveal_weight(space, automaton.symbol(word[t]), q);
        for (const auto& [to, weight] : successors(space, automaton.symbol(word[t]), q))
          longer[to] = std::max(longer[to], Rational(kept * weight));
      }
      best = longer;
    }
    if (impossible) {
      for (const bool path : {false, true}) {
        try {
          path ? void(most_likely_path(automaton, word)) : void(smoothed(automaton, word));
          FAIL() << "impossible evidence passed, case " << index;
        } catch (const ZeroEvidence& error) {
          EXPECT_EQ(error.step(), *impossible);
        }
      }
      continue;
    }
    const auto posterior = smoothed(automaton, word);
    std::vector<Rational> later(space.size(), 1);
    for (std::size_t t = word.size() + 1; t-- > 0;) {
      if (t < word.size()) {
        std::vector<Rational> earlier(space.size());
        for (StateId q = 0; q < space.size(); ++q) {
          for (const auto& [to, weight] : successors(space, automaton.symbol(word[t]), q))
            earlier[q] += weight * later[to];
          earlier[q] *= reveal_weight(space, automaton.symbol(word[t]), q);
        }
        later = earlier;
      }
      Rational sum;
      for (const auto& [q, mass] : before[t]) sum += mass * later[q];
      for (StateId q = 0; q < space.size(); ++q) {
        const auto found = before[t].find(q);
        const Rational truth =
            found == before[t].end() ? Rational(0) : Rational(found->second * later[q] / sum);
        ASSERT_NEAR(posterior[t][q], to_double(truth), 1e-12) << "case " << index << " t " << t;
      }
    }
    Rational most;
    for (const auto& [q, probability] : best) most = std::max(most, probability);
    EXPECT_NEAR(most_likely_path(automaton, word).log_probability, std::log(to_double(most)), 1e-9);
  }
}

TEST(FilterEdges, ListedStatesHaveNoVariables) {
  const AutomatonFile file = parse_automaton(
      "states = ['a', 'b']\nstart = 'uniform'\n[symbol.x]\nreveal = ['a']\n", "listed.toml");
  for (FilterKind kind : kJoint) {
    const auto filter = make_filter(file.automaton, {.kind = kind});
    EXPECT_THROW(filter->predict(0), UsageError) << to_string(kind);
    EXPECT_TRUE(filter->marginals().empty());
    EXPECT_THROW(filter->step(7), UsageError);
    EXPECT_NO_THROW(filter->step(0));
  }
  const AutomatonFile orders =
      parse_automaton("variables = 2\nstart = 'uniform'\n[symbol.x]\nreveal = { a = 1 }\n", "o");
  for (FilterKind kind : {FilterKind::kExact, FilterKind::kSparse, FilterKind::kMarginal})
    EXPECT_THROW(make_filter(orders.automaton, {.kind = kind})->predict(2), UsageError);
}

// 9 variables and more carry a factor beside their vector.
const char* const kRare =
    "variables = 9\nstart = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
    "[symbol.first]\nshuffle = '1e-20 (1 2), 0.99999999999999999999 ()'\n"
    "[symbol.second]\nshuffle = '1e-20 (3 4), 0.99999999999999999999 ()'\n"
    "[symbol.see]\nreveal = { a = 2 }\n"
    "[symbol.look]\nreveal = { c = 4 }\n"
    "[symbol.wait]\nreveal = { e = 5 }\n";

TEST(FilterEdges, RareEvidenceTwiceKeepsManyOrdersFinite) {
  const AutomatonFile file = parse_automaton(kRare, "rare.toml");
  for (Precision precision : {Precision::kFp32, Precision::kFp64}) {
    const auto filter = make_filter(file.automaton, {.precision = precision});
    for (SymbolId symbol : {0u, 1u, 2u, 3u}) filter->step(symbol);
    EXPECT_EQ(filter->predict(0)[1], 1);
    EXPECT_EQ(filter->predict(2)[3], 1);
    EXPECT_NEAR(filter->log_norm(), 2 * std::log(1e-20), 1e-3);
    EXPECT_EQ(filter->support(), 1u);
    for (SymbolId symbol : {0u, 1u, 4u}) filter->step(symbol);
    EXPECT_NEAR(filter->predict(0)[1], 1, 1e-6);
  }
}

TEST(FilterEdges, AGainOfManyOrdersIsTooLargeOnlyWhereTheirStateIs) {
  const AutomatonFile file = parse_automaton(kRare, "rare.toml");
  FilterOptions options{.kind = FilterKind::kGain, .precision = Precision::kFp32};
  options.gains = {1, 1, 1, 1, 1e25};
  const auto filter = make_filter(file.automaton, options);
  filter->step(0);
  filter->step(2);
  filter->step(4);
  filter->step(4);  // 1e-20 times 1e50
  EXPECT_NEAR(filter->log_norm(), std::log(1e30), 1e-3);
  EXPECT_EQ(filter->predict(0)[1], 1);
  filter->step(4);
  EXPECT_THROW(filter->step(4), NumberTooLarge);
  options.gains = {1, 1, 1, 1, 1e-25};
  const auto falling = make_filter(file.automaton, options);
  for (int k = 0; k < 2; ++k) falling->step(4);
  try {
    falling->step(4);
    FAIL() << "nothing is left of 1e-50 in fp32";
  } catch (const ZeroEvidence& error) {
    EXPECT_TRUE(error.underflow());
  }
  for (const double wrong : {std::numeric_limits<double>::infinity(), std::nan(""), -1.0}) {
    options.gains = {1, 1, 1, 1, wrong};
    EXPECT_THROW(make_filter(file.automaton, options), UsageError);
  }
}

// 1e-200 times 1e-200 is no double: possible all the same.
TEST(FilterEdges, UnderflowOfManyOrdersIsToldFromImpossibility) {
  for (const bool many : {false, true}) {
    const AutomatonFile file = parse_automaton(
        std::string("variables = 9\nstart = ") +
            (many ? "'uniform'" : "[1, 2, 3, 4, 5, 6, 7, 8, 9]") +
            "\n[symbol.tell]\nreveal = { a = 1, b = 2, c = 3, d = 4, e = 5, f = 6 }\n"
            "[symbol.first]\nshuffle = '1e-200 (1 2), " +
            std::string("0.") + std::string(200, '9') +
            " ()'\n[symbol.second]\nshuffle = '1e-200 (3 4), 0." + std::string(200, '9') +
            " ()'\n[symbol.see]\nreveal = { a = 2 }\n[symbol.look]\nreveal = { c = 4 }\n"
            "[symbol.never]\nreveal = { e = 6 }\n",
        "tiny.toml");
    for (const FilterOptions& options :
         {FilterOptions{}, FilterOptions{.precision = Precision::kFp32},
          FilterOptions{.kind = FilterKind::kLinear}}) {
      for (const bool possible : {true, false}) {
        const auto filter = make_filter(file.automaton, options);
        try {
          for (SymbolId symbol : {0u, 1u, 2u, 3u, possible ? 4u : 5u}) filter->step(symbol);
          ADD_FAILURE() << "no double holds 1e-400";
        } catch (const ZeroEvidence& error) {
          // fp32 has nothing left before the question.
          const bool early = options.precision == Precision::kFp32;
          EXPECT_EQ(error.underflow(), possible || early) << error.what();
        }
      }
    }
  }
}

// A print of as many arguments as variables is a whole state only if it names each of them.
TEST(FilterEdges, APrintThatNamesAVariableTwiceIsNoHardReset) {
  std::vector<Symbol> symbols(2);
  for (std::size_t s = 0; s < 2; ++s) {
    symbols[s].name = s == 0 ? "fits" : "contradicts";
    Cells cells;
    for (VariableId v = 0; v < 8; ++v) cells.cells.push_back({v, {v}});
    cells.cells.push_back({0, {static_cast<ValueId>(s)}});
    symbols[s].reveal = cells;
  }
  ShuffledValues all;
  for (VariableId v = 0; v < 9; ++v) {
    all.variables.push_back(v);
    all.values.push_back(v);
  }
  const Automaton automaton(StateSpace::orders(std::make_shared<Names>(Names::standard(9))),
                            Distribution{{}, {all}}, symbols);
  const FilterOptions options{.kind = FilterKind::kLinear, .hard_resets = true};
  const auto fits = make_filter(automaton, options);
  fits->step(0);
  EXPECT_EQ(fits->predict(0)[0], 1);
  EXPECT_EQ(fits->predict(8)[8], 1);
  EXPECT_THROW(make_filter(automaton, options)->step(1), ZeroEvidence);
}

TEST(FilterEdges, NoWordLeavesTheStart) {
  const AutomatonFile file = parse_automaton(
      "states = ['only']\nstart = 'only'\n[symbol.x]\nreveal = ['only']\n", "one.toml");
  EXPECT_EQ(smoothed(file.automaton, {}), (std::vector<std::vector<double>>{{1}}));
  EXPECT_EQ(most_likely_path(file.automaton, {}).states, std::vector<StateId>{0});
  for (FilterKind kind : kJoint) {
    const auto filter = make_filter(file.automaton, {.kind = kind});
    EXPECT_EQ(filter->entropy(), 0);
    EXPECT_EQ(filter->step(0).survival, 1);
    EXPECT_EQ(filter->log_norm(), 0);
  }
}

}  // namespace
}  // namespace shellgame
