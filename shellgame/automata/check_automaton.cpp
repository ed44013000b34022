#include "shellgame/automata/check_automaton.h"

#include <fmt/format.h>

#include <algorithm>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

class Checker {
 public:
  Checker(const StateSpace& space, const std::vector<Symbol>& symbols)
      : space_(space), symbols_(symbols) {}

  void distribution(const std::string& what, const Distribution& distribution) const {
    if (distribution.groups.empty()) {
      Rational sum;
      for (const auto& [state, weight] : distribution.states) {
        known(what, state);
        positive(what, weight);
        sum += weight;
      }
      if (sum != 1) wrong_use("{} must sum to 1, not {}", what, to_string(sum));
      return;
    }
    if (!space_.is_orders() || !distribution.states.empty())
      wrong_use("{} must name states, since the states are not orders of values", what);
    std::vector<int> variables(space_.degree()), values(space_.degree());
    for (const ShuffledValues& group : distribution.groups) {
      if (group.variables.size() != group.values.size())
        wrong_use("{} must have as many values as variables", what);
      for (std::size_t k = 0; k < group.values.size(); ++k) {
        if (group.variables[k] >= variables.size() || group.values[k] >= values.size())
          wrong_use("{} must have a value for each of {} variables", what, space_.degree());
        ++variables[group.variables[k]];
        ++values[group.values[k]];
      }
    }
    for (std::size_t i = 0; i < variables.size(); ++i) {
      if (variables[i] != 1 || values[i] != 1)
        wrong_use("{} must give each variable and each value once", what);
    }
  }

  void symbol(const Symbol& symbol) const {
    std::visit([&](const auto& reveal) { check(symbol, reveal); }, symbol.reveal);
    std::visit([&](const auto& transition) { check(symbol, transition); }, symbol.transition);
    if (symbol.policy.empty()) return;
    if (std::holds_alternative<StateWeights>(symbol.reveal))
      wrong_use("symbol '{}' must have a likelihood or a policy, not both", symbol.name);
    if (symbol.policy.size() != size())
      wrong_use("symbol '{}': the policy must have one chance for each of {} states, not {}",
                symbol.name, size(), symbol.policy.size());
    for (StateId q = 0; q < symbol.policy.size(); ++q) {
      positive(fmt::format("symbol '{}', state '{}': the policy", symbol.name, space_.name(q)),
               symbol.policy[q]);
      if (symbol.policy[q] != 0 && !allows(space_, symbol, q)) {
        wrong_use(
            "symbol '{}', state '{}': the policy must be 0 in a state that the symbol's reveal "
            "rules out, not {}",
            symbol.name, space_.name(q), to_string(symbol.policy[q]));
      }
    }
  }

  void policies() const {
    for (const Symbol& symbol : symbols_) {
      if (symbol.policy.empty()) {
        wrong_use("symbol '{}': a policy must be given for every symbol or for none", symbol.name);
      }
    }
    for (StateId q = 0; q < size(); ++q) {
      Rational sum;
      for (const Symbol& symbol : symbols_) sum += symbol.policy[q];
      if (sum != 1) {
        wrong_use("state '{}': the policies of all symbols must sum to 1, not {}", space_.name(q),
                  to_string(sum));
      }
    }
  }

 private:
  std::uint64_t size() const { return space_.size(); }

  void known(const std::string& what, StateId state) const {
    if (state >= size())
      wrong_use("{} must name one of the {} states, not number {}", what, size(), state);
  }

  static void positive(const std::string& what, const Rational& weight) {
    if (weight < 0) wrong_use("{} must be at least 0, not {}", what, to_string(weight));
  }

  void orders(const Symbol& symbol) const {
    if (!space_.is_orders()) {
      wrong_use("symbol '{}': variables, values and shuffles need states that are orders of values",
                symbol.name);
    }
  }

  void check(const Symbol&, const AllStates&) const {}
  void check(const Symbol& symbol, const StateSet& set) const {
    if (set.states.empty())
      wrong_use("symbol '{}': the reveal must allow at least one state", symbol.name);
    for (StateId q : set.states) known(fmt::format("symbol '{}': the reveal", symbol.name), q);
    if (!std::ranges::is_sorted(set.states, std::less_equal<>()) ||
        std::ranges::adjacent_find(set.states) != set.states.end())
      wrong_use("symbol '{}': the reveal must name each state once", symbol.name);
  }
  void check(const Symbol& symbol, const StateWeights& soft) const {
    if (soft.weights.size() != size())
      wrong_use("symbol '{}': the likelihood must have one weight for each of {} states, not {}",
                symbol.name, size(), soft.weights.size());
    for (StateId q = 0; q < soft.weights.size(); ++q)
      positive(fmt::format("symbol '{}', state '{}': the likelihood", symbol.name, space_.name(q)),
               soft.weights[q]);
  }
  void check(const Symbol& symbol, const Cells& cells) const {
    orders(symbol);
    for (const Cell& cell : cells.cells) {
      if (cell.variable >= space_.degree() || cell.values.empty() ||
          cell.values.back() >= space_.degree() ||
          std::ranges::adjacent_find(cell.values, std::greater_equal<>()) != cell.values.end()) {
        wrong_use("symbol '{}': a reveal must name a variable and some of its values", symbol.name);
      }
    }
  }
  void check(const Symbol&, const Stay&) const {}
  void check(const Symbol& symbol, const Kernel& kernel) const {
    if (kernel.offsets.size() != size() + 1 || kernel.targets.size() != kernel.weights.size() ||
        kernel.offsets.back() != kernel.targets.size()) {
      wrong_use("symbol '{}': a kernel must have one column for each of {} states", symbol.name,
                size());
    }
    for (StateId q = 0; q < size(); ++q) {
      const std::string what =
          fmt::format("symbol '{}', state '{}': the column", symbol.name, space_.name(q));
      Rational sum;
      for (std::uint32_t k = kernel.offsets[q]; k < kernel.offsets[q + 1]; ++k) {
        known(what, kernel.targets[k]);
        positive(what, kernel.weights[k]);
        sum += kernel.weights[k];
      }
      if (sum != 1) wrong_use("{} must sum to 1, not {}", what, to_string(sum));
    }
  }
  void check(const Symbol& symbol, const Shuffle& shuffle) const {
    orders(symbol);
    if (shuffle.outcomes.size() != shuffle.weights.size() || shuffle.outcomes.empty())
      wrong_use("symbol '{}': a shuffle must have a weight for each outcome", symbol.name);
    Rational sum;
    for (std::size_t k = 0; k < shuffle.outcomes.size(); ++k) {
      const Permute& outcome = shuffle.outcomes[k];
      std::vector<std::uint16_t> targets = outcome.targets, sources = outcome.sources;
      std::ranges::sort(targets);
      std::ranges::sort(sources);
      if (targets != sources || std::ranges::adjacent_find(targets) != targets.end() ||
          (!targets.empty() && targets.back() >= space_.degree())) {
        wrong_use("symbol '{}': outcome {} must be a permutation of the {} variables", symbol.name,
                  k + 1, space_.degree());
      }
      positive(fmt::format("symbol '{}': the weight of outcome {}", symbol.name, k + 1),
               shuffle.weights[k]);
      sum += shuffle.weights[k];
    }
    if (sum != 1)
      wrong_use("symbol '{}': the weights of a shuffle must sum to 1, not {}", symbol.name,
                to_string(sum));
  }
  void check(const Symbol& symbol, const Reset& reset) const {
    distribution(fmt::format("symbol '{}': the reset", symbol.name), reset.prior);
  }

  const StateSpace& space_;
  const std::vector<Symbol>& symbols_;
};

}  // namespace

void check_automaton(const StateSpace& space, const Distribution& start,
                     const std::vector<Symbol>& symbols) {
  const Checker checker(space, symbols);
  checker.distribution("the start", start);
  bool has_policy = false;
  for (const Symbol& symbol : symbols) {
    checker.symbol(symbol);
    has_policy = has_policy || !symbol.policy.empty();
  }
  if (has_policy) checker.policies();
}

}  // namespace shellgame
