#include "shellgame/decay/attack_game.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "shellgame/beliefs/orders.h"
#include "shellgame/text/error.h"

namespace shellgame {

Representation parse_representation(std::string_view name) {
  if (name == "joint") return Representation::kJoint;
  if (name == "marginal") return Representation::kMarginal;
  wrong_use("a representation must be joint or marginal, not '{}'", name);
}

std::string_view to_string(Representation representation) {
  return representation == Representation::kJoint ? "joint" : "marginal";
}

AttackGame::AttackGame(const Automaton& automaton, Representation representation, double resolution)
    : automaton_(automaton),
      representation_(representation),
      resolution_(resolution),
      n_(static_cast<int>(automaton.space().degree())) {
  if (n_ < 2 || n_ > kMostVariables) {
    wrong_use("an adversary needs orders of 2 to {} variables, not {}", kMostVariables,
              n_ == 0 ? "listed states" : std::to_string(n_));
  }
  for (SymbolId id = 0; id < automaton.symbols().size(); ++id) {
    const Symbol& symbol = automaton.symbol(id);
    const auto* shuffle = std::get_if<Shuffle>(&symbol.transition);
    const auto* cells = std::get_if<Cells>(&symbol.reveal);
    if (symbol.policy.empty() && symbol.is_transition_only() && shuffle != nullptr &&
        shuffle->acts == Acts::kPositions) {
      AttackAction action;
      action.symbol = id;
      std::map<Permutation, Rational> outcomes;
      for (std::size_t k = 0; k < shuffle->outcomes.size(); ++k)
        outcomes[to_permutation(shuffle->outcomes[k])] += shuffle->weights[k];
      std::erase_if(outcomes, [](const auto& outcome) { return outcome.second == 0; });
      for (const auto& [s, weight] : outcomes) {
        bound_ = std::min(bound_, weight);
        action.outcomes.emplace_back(s, to_double(weight));
      }
      if (mixings_.emplace(conjugate(action, Permutation()), actions_.size()).second)
        actions_.push_back(std::move(action));
    } else if (symbol.policy.empty() && symbol.is_reveal_only() && cells != nullptr &&
               cells->cells.size() == 1 && cells->cells[0].values.size() == 1) {
      const Cell& cell = cells->cells[0];
      if (reveals_.emplace(std::pair(cell.variable, cell.values[0]), actions_.size()).second)
        actions_.push_back({id, {}, cell.variable, cell.values[0]});
    } else {
      wrong_use(
          "an adversary needs shuffles of variables and reveals of one value of one variable, and "
          "symbol '{}' is neither",
          symbol.name);
    }
  }
  // Names of values are free only where every value can be revealed.
  if (reveals_.size() != static_cast<std::size_t>(n_ * n_))
    wrong_use("an adversary needs a reveal for each variable and value: {}, not {}", n_ * n_,
              reveals_.size());
  for (std::uint64_t rank = 0; rank < factorial(n_); ++rank) {
    const Permutation by = Permutation::unrank(n_, rank);
    if (std::ranges::all_of(actions_, [&](const AttackAction& action) {
          return !action.is_mixing() || mixings_.contains(conjugate(action, by));
        }))
      symmetries_.push_back(by);
  }
}

std::vector<Situation> AttackGame::starts() const {
  Situation start;
  std::vector<std::vector<double>> columns(static_cast<std::size_t>(n_),
                                           std::vector<double>(static_cast<std::size_t>(n_)));
  const bool joint = representation_ == Representation::kJoint;
  for (const auto& [state, weight] : expand(automaton_.space(), automaton_.start())) {
    const Permutation order = Permutation::unrank(n_, state);
    start.orders.emplace_back(order, joint ? to_double(weight) : 1.0);
    for (int v = 0; v < n_; ++v)
      columns[static_cast<std::size_t>(order(v))][static_cast<std::size_t>(v)] += to_double(weight);
  }
  std::ranges::sort(start.orders);
  if (joint) return {start};
  std::vector<Situation> all;
  for (int target = 0; target < n_; ++target) {
    all.push_back(start);
    all.back().column = columns[static_cast<std::size_t>(target)];
    all.back().target = target;
  }
  return all;
}

std::optional<AttackGame::Played> AttackGame::play(const Situation& situation,
                                                   const AttackAction& action) const {
  Played result;
  result.to.target = situation.target;
  const bool joint = representation_ == Representation::kJoint;
  if (action.is_mixing()) {
    std::map<Permutation, double> mass;
    result.to.column.assign(situation.column.size(), 0.0);
    for (const auto& [s, weight] : action.outcomes) {
      for (const auto& [order, old] : situation.orders)
        mass[moved(order, s, Acts::kPositions)] += weight * old;
      for (std::size_t v = 0; v < situation.column.size(); ++v)
        result.to.column[v] +=
            weight * situation.column[static_cast<std::size_t>(s(static_cast<int>(v)))];
    }
    result.to.orders.assign(mass.begin(), mass.end());
    if (!joint) {
      for (auto& [order, value] : result.to.orders) value = 1;
    }
    return result;
  }
  if (!joint && action.value == situation.target) return {};
  double kept = 0;
  for (const auto& [order, mass] : situation.orders) {
    if (order(action.variable) != action.value) continue;
    kept += mass;
    result.to.orders.emplace_back(order, mass);
  }
  if (result.to.orders.empty()) return {};
  bool changes = result.to.orders.size() < situation.orders.size();
  if (joint) {
    for (auto& [order, mass] : result.to.orders) mass /= kept;
    result.log_factor = std::log(std::min(kept, 1.0));
  } else {
    result.to.column = situation.column;
    double& gone = result.to.column[static_cast<std::size_t>(action.variable)];
    changes = changes || gone > 0;
    double rest = -gone;
    for (double x : result.to.column) rest += x;
    gone = 0;
    for (double& x : result.to.column) x /= rest;
    result.log_factor = std::log(std::min(rest, 1.0));
  }
  if (!changes) return {};
  return result;
}

double AttackGame::best_reveal(const Situation& situation) const {
  double best = 0;
  for (const AttackAction& action : actions_) {
    if (action.is_mixing()) continue;
    if (const auto played = play(situation, action)) best = std::min(best, played->log_factor);
  }
  return best;
}

const AttackAction& AttackGame::renamed(const AttackAction& action,
                                        const Relabelling& names) const {
  if (action.is_mixing()) return actions_[mixings_.at(conjugate(action, names.positions))];
  return actions_[reveals_.at({names.positions(action.variable), names.values(action.value)})];
}

AttackGame::MixKey AttackGame::conjugate(const AttackAction& mixing, Permutation by) const {
  MixKey key;
  const Permutation back = by.inverse();
  for (const auto& [s, weight] : mixing.outcomes)
    key.emplace_back(after(by, after(s, back)).bits(), std::llround(weight * 1e15));
  std::ranges::sort(key);
  return key;
}

std::int64_t AttackGame::rounded(double x) const { return std::llround(x / resolution_); }

}  // namespace shellgame
