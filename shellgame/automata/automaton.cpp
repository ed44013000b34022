#include "shellgame/automata/automaton.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "shellgame/automata/check_automaton.h"
#include "shellgame/system/memory.h"
#include "shellgame/system/saturating.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// Explicit policies and weights have one number a state: beyond this they are not what is meant.
constexpr std::uint64_t kMostListed = 1 << 24;
constexpr std::size_t kMostShuffled = 10;

template <class... Kinds>
struct Overloaded : Kinds... {
  using Kinds::operator()...;
};
template <class... Kinds>  // clang 14 asks for it
Overloaded(Kinds...)->Overloaded<Kinds...>;

}  // namespace

StateSpace StateSpace::listed(std::vector<std::string> names) {
  if (names.empty() || names.size() > kMostListed)
    wrong_use("states must be from 1 to {} names, not {}", kMostListed, names.size());
  std::vector<std::string> sorted = names;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    wrong_use("states must have different names, and '{}' is there twice", *twice);
  StateSpace space;
  space.listed_ = std::move(names);
  return space;
}

StateSpace StateSpace::orders(std::shared_ptr<const Names> names) {
  StateSpace space;
  space.names_ = std::move(names);
  return space;
}

std::uint64_t StateSpace::size() const {
  if (!names_) return listed_.size();
  if (degree() > 12) {
    wrong_use("numbered states need at most 12 variables (479,001,600 states), not {}", degree());
  }
  return factorial(static_cast<int>(degree()));
}

std::string StateSpace::name(StateId state) const {
  if (!names_) return listed_[state];
  const int n = static_cast<int>(degree());
  const Permutation order = Permutation::unrank(n, state);
  std::string name = "[";
  for (int v = 0; v < n; ++v) {
    if (v > 0) name += ',';
    name += names_->value(static_cast<std::size_t>(order(v))).text;
  }
  return name + "]";
}

std::optional<StateId> StateSpace::find(const std::string& name) const {
  if (!names_) {
    const auto found = std::ranges::find(listed_, name);
    if (found == listed_.end()) return {};
    return static_cast<StateId>(found - listed_.begin());
  }
  if (!name.starts_with('[') || !name.ends_with(']') || degree() > 12) return {};
  std::vector<int> images;
  for (std::size_t at = 1; at < name.size();) {
    const std::size_t end = std::min(name.find(',', at), name.size() - 1);
    const std::string text = name.substr(at, end - at);
    std::optional<ValueId> value = names_->find_value({text, false});
    if (!value) value = names_->find_value({text, true});
    if (!value || std::ranges::find(images, *value) != images.end()) return {};
    images.push_back(*value);
    at = end + 1;
  }
  if (images.size() != degree()) return {};
  return static_cast<StateId>(Permutation::from_images(images).rank(static_cast<int>(degree())));
}

Automaton::Automaton(StateSpace space, Distribution start, std::vector<Symbol> symbols)
    : space_(std::move(space)), start_(std::move(start)), symbols_(std::move(symbols)) {
  check_automaton(space_, start_, symbols_);
  has_policy_ = !symbols_.empty() && !symbols_[0].policy.empty();
}

std::optional<SymbolId> Automaton::find_symbol(const std::string& name) const {
  const auto found = std::ranges::find(symbols_, name, &Symbol::name);
  if (found == symbols_.end()) return {};
  return static_cast<SymbolId>(found - symbols_.begin());
}

bool Automaton::is_deterministic() const {
  const auto single = [](const Distribution& d) {
    return d.groups.empty()
               ? d.states.size() == 1
               : std::ranges::all_of(d.groups, [](const auto& g) { return g.values.size() == 1; });
  };
  return single(start_) && std::ranges::all_of(symbols_, [&](const Symbol& symbol) {
           return std::visit(
               Overloaded{[](const Stay&) { return true; },
                          [&](const Kernel& kernel) {
                            return std::ranges::all_of(
                                kernel.weights, [](const Rational& w) { return w == 0 || w == 1; });
                          },
                          [](const Shuffle& shuffle) {
                            return std::ranges::all_of(shuffle.weights, [](const Rational& w) {
                              return w == 0 || w == 1;
                            });
                          },
                          [&](const Reset& reset) { return single(reset.prior); }},
               symbol.transition);
         });
}

bool Automaton::has_reveals() const {
  return has_policy_ || std::ranges::any_of(symbols_, [](const Symbol& symbol) {
           return !symbol.is_transition_only();
         });
}

std::string Automaton::kind() const {
  const bool soft = std::ranges::any_of(symbols_, [](const Symbol& symbol) {
    return std::holds_alternative<StateWeights>(symbol.reveal);
  });
  if (!has_reveals())
    return is_deterministic()
               ? "a DFA: deterministic, without reveals (a linear recurrence tracks it)"
               : "a weighted automaton: probabilistic, without reveals (its update is linear)";
  if (is_deterministic()) return "deterministic with reveals, which tell nothing new";
  const bool full = std::ranges::all_of(symbols_, [](const Symbol& symbol) {
    const auto* set = std::get_if<StateSet>(&symbol.reveal);
    return symbol.is_transition_only() || (set != nullptr && set->states.size() == 1);
  });
  if (full && !has_policy_)
    return "full reveals: each shows the whole state (a hard reset keeps a linear recurrence)";
  if (has_policy_) return "a PFSA-SR with a policy: reveals are weighted by pi(symbol | state)";
  return soft ? "soft observations, as in an IO-HMM or a POMDP"
              : "a PFSA-SR: probabilistic, with state reveals";
}

bool Automaton::is_blind() const {
  // The uniform choice gives symbol s the chance 1 / (symbols that the state allows).
  std::vector<std::size_t> allowed(space_.size());
  for (const Symbol& symbol : symbols_) {
    for (StateId q = 0; q < allowed.size(); ++q) allowed[q] += allows(space_, symbol, q) ? 1 : 0;
  }
  for (const Symbol& symbol : symbols_) {
    std::optional<Rational> one;  // the policy's chance, or the likelihood's weight
    std::size_t count = 0;
    for (StateId q = 0; q < allowed.size(); ++q) {
      if (!allows(space_, symbol, q)) continue;
      const Rational weight = reveal_weight(space_, symbol, q);
      if (one && *one != weight) return false;
      one = weight;
      if (has_policy_) continue;
      if (count != 0 && count != allowed[q]) return false;
      count = allowed[q];
    }
  }
  return true;
}

bool allows(const StateSpace& space, const Symbol& symbol, StateId state) {
  return std::visit(
      Overloaded{[](const AllStates&) { return true; },
                 [&](const StateSet& set) { return std::ranges::binary_search(set.states, state); },
                 [&](const StateWeights& soft) { return soft.weights[state] != 0; },
                 [&](const Cells& cells) {
                   const Permutation order =
                       Permutation::unrank(static_cast<int>(space.degree()), state);
                   return std::ranges::all_of(cells.cells, [&](const Cell& cell) {
                     return std::ranges::binary_search(cell.values, order(cell.variable));
                   });
                 }},
      symbol.reveal);
}

Rational reveal_weight(const StateSpace& space, const Symbol& symbol, StateId state) {
  if (!symbol.policy.empty()) return symbol.policy[state];
  if (const auto* soft = std::get_if<StateWeights>(&symbol.reveal)) return soft->weights[state];
  return allows(space, symbol, state) ? 1 : 0;
}

Permutation to_permutation(const Permute& outcome) {
  const std::vector<int> targets(outcome.targets.begin(), outcome.targets.end());
  const std::vector<int> sources(outcome.sources.begin(), outcome.sources.end());
  return assignment(targets, sources);
}

std::vector<Permutation> orders_of(const StateSpace& space,
                                   const std::vector<ShuffledValues>& groups) {
  std::uint64_t count = 1;
  for (const ShuffledValues& group : groups) {
    if (group.values.size() > kMostShuffled) {
      wrong_use("at most {} shuffled values can be listed in all their orders, not {}",
                kMostShuffled, group.values.size());
    }
    count = saturating_multiply(count, factorial(static_cast<int>(group.values.size())));
  }
  require_memory(saturating_multiply(count, std::uint64_t{sizeof(Permutation)}),
                 fmt::format("the list of all {} orders of the shuffled values", count));
  std::vector<Permutation> result;
  result.reserve(count);
  std::vector<int> order(space.degree(), 0);
  // The first group's orders change fastest.
  const auto list = [&](const auto& self, std::size_t left) -> void {
    if (left == 0) {
      result.push_back(Permutation::from_images(order));
      return;
    }
    const ShuffledValues& group = groups[left - 1];
    std::vector<ValueId> values = group.values;
    std::ranges::sort(values);
    do {
      for (std::size_t k = 0; k < values.size(); ++k) order[group.variables[k]] = values[k];
      self(self, left - 1);
    } while (std::next_permutation(values.begin(), values.end()));
  };
  list(list, groups.size());
  return result;
}

std::vector<std::pair<StateId, Rational>> expand(const StateSpace& space,
                                                 const Distribution& distribution) {
  std::map<StateId, Rational> all;
  if (distribution.groups.empty()) {
    for (const auto& [state, weight] : distribution.states) all[state] += weight;
  } else {
    const std::vector<Permutation> orders = orders_of(space, distribution.groups);
    for (Permutation order : orders) {
      all[static_cast<StateId>(order.rank(static_cast<int>(space.degree())))] =
          Rational(1, static_cast<unsigned long>(orders.size()));
    }
  }
  return {all.begin(), all.end()};
}

std::vector<std::pair<StateId, Rational>> successors(const StateSpace& space, const Symbol& symbol,
                                                     StateId state) {
  std::map<StateId, Rational> next;
  std::visit(Overloaded{[&](const Stay&) { next[state] = 1; },
                        [&](const Kernel& kernel) {
                          for (std::uint32_t k = kernel.offsets[state];
                               k < kernel.offsets[state + 1]; ++k)
                            next[kernel.targets[k]] += kernel.weights[k];
                        },
                        [&](const Shuffle& shuffle) {
                          const int n = static_cast<int>(space.degree());
                          const Permutation order = Permutation::unrank(n, state);
                          for (std::size_t k = 0; k < shuffle.outcomes.size(); ++k) {
                            const Permutation s = to_permutation(shuffle.outcomes[k]);
                            // kPositions: new = order(s(v)); kValues: s sends target to source, so
                            // the value moves by its inverse.
                            const Permutation moved = shuffle.acts == Acts::kPositions
                                                          ? then(s, order)
                                                          : then(order, s.inverse());
                            next[static_cast<StateId>(moved.rank(n))] += shuffle.weights[k];
                          }
                        },
                        [&](const Reset& reset) {
                          for (const auto& [q, weight] : expand(space, reset.prior))
                            next[q] += weight;
                        }},
             symbol.transition);
  std::erase_if(next, [](const auto& entry) { return entry.second == 0; });
  return {next.begin(), next.end()};
}

}  // namespace shellgame
