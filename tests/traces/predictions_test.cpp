#include "shellgame/traces/predictions.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <optional>

#include "shellgame/automata/from_program.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/programs/execute.h"
#include "shellgame/programs/parse.h"
#include "tests/support/program_generator.h"

namespace shellgame {
namespace {

TEST(Predictions, AnUnobservedSwapLeavesOneHalf) {
  const Program program = parse(
      ">>> from random import random\n>>> a = 1\n>>> b = 2\n"
      ">>> if random() < 0.5: a, b = b, a\n...\n>>> print('a', a)\na 2\n>>> print('b', b)\nb 1\n");
  std::vector<RevealMark> marks;
  render(program, &marks);
  const auto all = predictions(program, marks);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0], (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(all[1], (std::vector<double>{1, 0}));
}

TEST(Predictions, ValuesOfOnePrintAreReadFromLeftToRight) {
  const Program program = parse(
      ">>> from random import random\n>>> a = 1\n>>> b = 2\n"
      ">>> if random() < 0.25: a, b = b, a\n...\n>>> print('a', a, 'b', b)\na 2 b 1\n");
  std::vector<RevealMark> marks;
  render(program, &marks);
  const auto all = predictions(program, marks);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0], (std::vector<double>{0.75, 0.25}));
  EXPECT_EQ(all[1], (std::vector<double>{1, 0}));
}

RC_GTEST_PROP(Predictions, AnyProgramHasADistributionForEachMarkThatAllowsTheTruth, ()) {
  const Program program = *arbitrary_program(11);
  RC_PRE(program.names().size() <= 6);
  std::vector<RevealMark> marks;
  render(program, &marks);
  const auto all = predictions(program, marks);
  RC_ASSERT(all.size() == marks.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    double sum = 0;
    for (double p : all[i]) {
      RC_ASSERT(p >= 0);
      sum += p;
    }
    RC_ASSERT(std::abs(sum - 1) < 1e-12);
    if (shows_value(program, marks[i])) RC_ASSERT(all[i][marks[i].value] > 0);
  }
}

// The same labels in fractions, by a walk over the events that knows nothing of automata: the
// states that are possible and how likely each is. Nothing if the evidence is impossible.
class FractionWalk {
 public:
  explicit FractionWalk(const Program& program) : program_(program) {
    now_[State(program.names().size(), 0)] = 1;
  }

  std::optional<std::vector<std::vector<Rational>>> run() {
    for (const Event& event : program_.events()) {
      if (event.kind == EventKind::kPrint) {
        for (std::size_t k = 0; k < program_.variables(event).size(); ++k) {
          label(program_.variables(event)[k]);
          if (!keep(event, k)) return std::nullopt;
        }
      } else if (event.kind == EventKind::kAssert) {
        const auto values = program_.values(event);
        for (std::size_t k = 0; k < values.size(); ++k) label(program_.variables(event)[0]);
        if (!keep(event, 0)) return std::nullopt;
      } else {
        move(event);
      }
    }
    return labels_;
  }

 private:
  using Masses = std::map<State, Rational>;

  void label(VariableId variable) {
    std::vector<Rational>& row = labels_.emplace_back(program_.names().size());
    for (const auto& [state, mass] : now_) row[state[variable]] += mass;
  }

  bool holds(const Event& event, std::size_t k, const State& state) const {
    const auto values = program_.values(event);
    if (event.kind == EventKind::kPrint) return state[program_.variables(event)[k]] == values[k];
    bool found = false;
    for (ValueId value : values) found = found || state[program_.variables(event)[0]] == value;
    return found != (static_cast<Relation>(event.form) == Relation::kUnequal);
  }

  bool keep(const Event& event, std::size_t k) {
    Rational left;
    std::erase_if(now_, [&](const auto& entry) { return !holds(event, k, entry.first); });
    for (const auto& [state, mass] : now_) left += mass;
    for (auto& [state, mass] : now_) mass /= left;
    return !now_.empty();
  }

  void permute(const Permute& outcome, std::span<const VariableId> names, const Rational& weight,
               Masses& next) const {
    if (weight == 0) return;
    for (const auto& [state, mass] : now_) {
      State moved = state;
      for (std::size_t k = 0; k < outcome.targets.size(); ++k) {
        const auto name = [&](VariableId v) { return names.empty() ? v : names[v]; };
        moved[name(outcome.targets[k])] = state[name(outcome.sources[k])];
      }
      next[moved] += weight * mass;
    }
  }

  void mix(const Mixture& mixture, std::span<const VariableId> names, Masses& next) const {
    Rational before;
    for (std::size_t k = 0; k < mixture.outcomes.size(); ++k) {
      const Rational until =
          k < mixture.thresholds.size() ? rational_from(mixture.thresholds[k]) : Rational(1);
      permute(mixture.outcomes[k], names, until - before, next);
      before = until;
    }
  }

  void move(const Event& event) {
    Masses next;
    switch (event.kind) {
      case EventKind::kAssign:
      case EventKind::kStart: {
        const auto variables = program_.variables(event);
        const auto given = program_.values(event);
        std::vector<ValueId> values(given.begin(), given.end());
        std::ranges::sort(values);
        std::size_t orders = 1;
        for (std::size_t k = 2; k <= values.size(); ++k) orders *= k;
        do {
          for (const auto& [state, mass] : now_) {
            State assigned = state;
            for (std::size_t k = 0; k < variables.size(); ++k) assigned[variables[k]] = values[k];
            next[assigned] += mass / Rational(static_cast<unsigned long>(orders));
          }
        } while (std::ranges::next_permutation(values).found);
        break;
      }
      case EventKind::kPermute:
        permute(program_.table().permutes[event.at], {}, 1, next);
        break;
      case EventKind::kChoose:
        mix(program_.table().mixtures[event.at], {}, next);
        break;
      case EventKind::kCall:
        mix(program_.definition(event).mixture, program_.variables(event), next);
        break;
      default:
        return;
    }
    now_ = std::move(next);
  }

  const Program& program_;
  Masses now_;
  std::vector<std::vector<Rational>> labels_;
};

RC_GTEST_PROP(Predictions, AnyEvidenceIsLabelledAsByFractionsOrImpossible, ()) {
  for (int k = 0; k < 10; ++k) {  // many contradict themselves before the interesting place
    const Program program = *arbitrary_program(13, Evidence::kAny);
    if (program.names().size() > 6) continue;
    std::vector<RevealMark> marks;
    render(program, &marks);
    const auto expected = FractionWalk(program).run();
    if (!expected) {
      RC_ASSERT_THROWS_AS(predictions(program, marks), ZeroEvidence);
      continue;
    }
    const auto all = predictions(program, marks);
    RC_ASSERT(all.size() == expected->size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t value = 0; value < all[i].size(); ++value)
        RC_ASSERT(std::abs(all[i][value] - to_double((*expected)[i][value])) < 1e-12);
    }
  }
}

// The evidence after the last label is evidence too, and so is the last value of a print.
TEST(Predictions, ContradictionsNameTheirStep) {
  const std::string certain = ">>> a = 1\n>>> b = 2\n>>> a, b = b, a\n";
  const std::string uncertain =
      ">>> from random import random\n>>> a = 1\n>>> b = 2\n"
      ">>> if random() < 0.5: a, b = b, a\n...\n";
  for (const std::string& begin : {certain, uncertain}) {
    for (const auto& [rest, step, part] :
         {std::tuple(">>> print('a', a, 'a', a)\na 2 a 1\n", 3u, "a 2 a 1"),
          std::tuple(">>> print('b', b, 'a', a)\nb 1 a 1\n", 3u, "b 1 a 1"),
          std::tuple(">>> print('a', a)\na 2\n>>> assert b == 2\n", 3u, "assert b == 2"),
          std::tuple(">>> print(a, b, a)\n2 1 1\n>>> a, b = b, a\n", 4u, "2 1 1")}) {
      const Program program = parse(begin + rest);
      std::vector<RevealMark> marks;
      render(program, &marks);
      try {
        predictions(program, marks);
        ADD_FAILURE() << "a contradiction passed: " << begin << rest;
      } catch (const ZeroEvidence& error) {
        EXPECT_EQ(error.step(), step) << begin << rest;
        EXPECT_FALSE(error.underflow());
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
      } catch (const Error& error) {
        ADD_FAILURE() << "not as impossible evidence: " << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace shellgame
