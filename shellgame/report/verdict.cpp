#include "shellgame/report/verdict.h"

#include <algorithm>

#include "shellgame/evaluate/rank_sum.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr double kInterval = 0.9;  // of differences; its upper end is a bound of 95 %

// Which seeds are judged.
enum class Counted { kEligible, kByControls, kAll };

bool counts(const VerdictSeed& seed, Counted counted) {
  return counted == Counted::kAll ||
         (counted == Counted::kEligible ? seed.eligible : seed.by_controls);
}

template <class Value>
std::vector<double> values_of(const VerdictArm& arm, Counted counted, const Value& value) {
  std::vector<double> values;
  for (const VerdictSeed& seed : arm.seeds) {
    if (counts(seed, counted)) values.push_back(value(seed));
  }
  return values;
}

const VerdictArm* find_arm(const VerdictRegime& regime, const std::string& name) {
  const auto found = std::ranges::find(regime.arms, name, &VerdictArm::name);
  return found == regime.arms.end() ? nullptr : &*found;
}

VerdictTest::Arm judge_arm(const VerdictRule& rule, const VerdictArm& arm, Counted counted) {
  VerdictTest::Arm judged{.name = arm.name, .seeds = arm.seeds.size()};
  judged.eligible = static_cast<std::uint64_t>(
      std::ranges::count_if(arm.seeds, [&](const VerdictSeed& s) { return counts(s, counted); }));
  judged.learnt =
      counted == Counted::kAll ? judged.seeds > 0 : judged.eligible >= rule.levels.eligible_seeds;
  const auto e = values_of(arm, counted, [](const VerdictSeed& s) { return s.e(); });
  if (e.empty()) return judged;
  judged.e = median_of(e);
  judged.e_interval = bootstrap_median(e, kInterval);
  judged.e_m1 = median_of(values_of(arm, counted, [](const VerdictSeed& s) { return s.e_m1(); }));
  const auto l_m5 = values_of(arm, counted, [](const VerdictSeed& s) { return s.l_m5; });
  judged.l_m5 = median_of(l_m5);
  judged.l_m5_upper = bootstrap_median(l_m5, kInterval).high;
  judged.control =
      median_of(values_of(arm, counted, [](const VerdictSeed& s) { return s.control(); }));
  const bool has_a =
      std::ranges::all_of(arm.seeds, [](const VerdictSeed& seed) { return seed.l_a.has_value(); });
  if (has_a)
    judged.l_a = median_of(values_of(arm, counted, [](const VerdictSeed& s) { return *s.l_a; }));
  return judged;
}

bool within(const Bounds& bounds, double limit) {
  return bounds.low >= -limit && bounds.high <= limit;
}

VerdictTest judge_regime(const VerdictRule& rule, const VerdictRegime& regime, Counted counted) {
  const VerdictLevels& levels = rule.levels;
  VerdictTest test;
  for (const VerdictArm& arm : regime.arms) test.arms.push_back(judge_arm(rule, arm, counted));
  const auto judged = [&](const std::string& name) -> const VerdictTest::Arm* {
    const auto found = std::ranges::find(test.arms, name, &VerdictTest::Arm::name);
    return found == test.arms.end() || !found->learnt ? nullptr : &*found;
  };
  for (const auto* names : {&rule.linear, &rule.nonlinear}) {
    for (const std::string& name : *names) {
      if (judged(name) == nullptr) test.not_learnt.push_back(name);
    }
  }
  if (!test.not_learnt.empty()) {
    test.verdict = "not learnt";
    return test;
  }
  std::vector<double> p;
  test.equal = true;
  for (const std::string& linear : rule.linear) {
    for (const std::string& nonlinear : rule.nonlinear) {
      const auto e = [](const VerdictSeed& s) { return s.e(); };
      const auto a = values_of(*find_arm(regime, linear), counted, e),
                 b = values_of(*find_arm(regime, nonlinear), counted, e);
      p.push_back(mann_whitney_greater(a, b));
      test.pairs.push_back({.linear = linear,
                            .nonlinear = nonlinear,
                            .p = p.back(),
                            .difference = bootstrap_median_difference(a, b, kInterval)});
      test.equal = test.equal && within(test.pairs.back().difference, levels.equal);
    }
  }
  const std::vector<double> adjusted = holm(p);
  test.supported = true;
  for (std::size_t i = 0; i < adjusted.size(); ++i) {
    test.pairs[i].adjusted = adjusted[i];
    test.supported = test.supported && adjusted[i] <= levels.family;
  }
  test.length = test.belief = true;
  for (const std::string& name : rule.linear) {
    const VerdictTest::Arm& arm = *judged(name);
    test.supported =
        test.supported && *arm.e >= levels.supported && *arm.e_m1 >= levels.supported_m1;
    test.length =
        test.length && *arm.control >= levels.length && within(arm.e_interval, levels.equal);
    test.belief = test.belief && arm.l_a && *arm.l_m5 - *arm.l_a >= levels.belief;
  }
  for (const std::string& name : rule.nonlinear)
    test.supported = test.supported && judged(name)->l_m5_upper <= levels.nonlinear_miss;
  test.verdict = test.supported ? "supported"
                 : test.length  ? "length"
                 : test.equal   ? "not supported"
                                : "undecided";
  return test;
}

// Over the regimes, the first one being that of uniform training.
std::string words_of(const VerdictRule& rule, const std::vector<VerdictRegime>& regimes,
                     VerdictTest VerdictRegime::*test) {
  if (regimes.empty()) return "no regime was measured";
  const auto verdict = [&](const VerdictRegime& regime) { return (regime.*test).verdict; };
  const auto every = [&](const std::string& words, std::size_t from) {
    return std::all_of(regimes.begin() + static_cast<std::ptrdiff_t>(from), regimes.end(),
                       [&](const VerdictRegime& regime) { return verdict(regime) == words; });
  };
  const VerdictRegime& first = regimes.front();
  if (regimes.size() < rule.regimes.size()) {
    std::string words;
    for (const VerdictRegime& regime : regimes)
      words += verdict(regime) + " in " + regime.name + ", ";
    return words + "others not measured";
  }
  // What cannot be judged in the first is judged in the others.
  const bool rest = verdict(first) == "not learnt" && regimes.size() > 1;
  const std::string beside = rest ? " (not learnt in this budget in " + first.name + ")" : "";
  const std::size_t from = rest ? 1 : 0;
  for (std::size_t i = from; i < regimes.size(); ++i) {
    if (verdict(regimes[i]) == "not learnt") return "not learnt in this budget";
  }
  if (every("supported", from)) return "supported" + beside;
  if (verdict(first) == "supported")
    return "supported in " + first.name + " alone: absent once it is trained on, coverage";
  if (every("length", from)) return "length, not uncertainty" + beside;
  if (every("not supported", from)) return "not supported" + beside;
  return "undecided" + beside;
}

}  // namespace

Verdict give_verdict(const VerdictRule& rule, std::vector<VerdictRegime> regimes) {
  for (VerdictRegime& regime : regimes) {
    for (VerdictArm& arm : regime.arms) {
      for (VerdictSeed& seed : arm.seeds) {
        const bool close = seed.regret <= rule.levels.eligible_regret;
        seed.eligible = close && seed.early <= rule.levels.eligible_miss;
        seed.by_controls = close && seed.early_controls <= rule.levels.eligible_miss;
      }
    }
    regime.eligible = judge_regime(rule, regime, Counted::kEligible);
    regime.controls = judge_regime(rule, regime, Counted::kByControls);
    regime.all = judge_regime(rule, regime, Counted::kAll);
  }
  Verdict verdict{.regimes = std::move(regimes)};
  verdict.words = words_of(rule, verdict.regimes, &VerdictRegime::eligible);
  verdict.with_controls = words_of(rule, verdict.regimes, &VerdictRegime::controls);
  verdict.with_all = words_of(rule, verdict.regimes, &VerdictRegime::all);
  return verdict;
}

}  // namespace shellgame
