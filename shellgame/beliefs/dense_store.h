// The mass of every state in one vector: what a joint filter works on. Symbols are compiled when
// they are first used. A template over the kind of number; see numbers/number_kinds.h.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "shellgame/automata/automaton.h"
#include "shellgame/beliefs/orders.h"
#include "shellgame/numbers/decode.h"
#include "shellgame/numbers/number_kinds.h"

namespace shellgame {

template <class Number>
class DenseStore {
 public:
  using Traits = NumberTraits<Number>;
  using number_type = Number;

  explicit DenseStore(const Automaton& automaton)
      : automaton_(automaton),
        compiled_(automaton.symbols().size()),
        mass_(automaton.space().size()),
        next_(automaton.space().size()) {
    put(automaton.start());
  }

  void put(const Distribution& distribution) {
    const StateSpace& space = automaton_.space();
    if (distribution.groups.size() == 1) {  // uniform
      std::ranges::fill(mass_, Traits::from(Rational(1, static_cast<unsigned long>(space.size()))));
      return;
    }
    std::ranges::fill(mass_, Number{});
    for (const auto& [state, weight] : expand(space, distribution))
      mass_[state] = Traits::from(weight);
  }
  void put_state(StateId state) {
    std::ranges::fill(mass_, Number{});
    mass_[state] = Traits::from(1);
  }

  // Zeroes or weights by the symbol's reveal; false if it has none.
  bool reveal(SymbolId symbol) {
    const Compiled& c = compiled(symbol);
    for (StateId q : c.forbidden) mass_[q] = Number{};
    for (std::size_t q = 0; q < c.weights.size(); ++q) mass_[q] *= c.weights[q];
    return c.has_reveal;
  }

  // Along the symbol's transition, which is not a reset.
  void move(SymbolId symbol) {
    const Compiled& c = compiled(symbol);
    if (!c.tables.empty()) {
      gather(c);
    } else if (!c.offsets.empty()) {
      std::ranges::fill(next_, Number{});
      for (std::size_t q = 0; q < mass_.size(); ++q) {
        if (Traits::is_zero(mass_[q])) continue;
        for (std::uint32_t k = c.offsets[q]; k < c.offsets[q + 1]; ++k)
          next_[c.targets[k]] += Number(c.target_weights[k] * mass_[q]);
      }
    } else {
      return;
    }
    mass_.swap(next_);
  }

  Number total() const {
    Number sum{};
    for (const Number& x : mass_) sum += x;
    return sum;
  }
  void divide(const Number& by) {
    for (Number& x : mass_) x = x / by;
  }
  void scale(const Number& by) {
    for (Number& x : mass_) x *= by;
  }
  bool vanished() const {
    return std::ranges::all_of(mass_, [](const Number& x) { return Traits::is_zero(x); });
  }
  bool broken() const {
    return std::ranges::any_of(mass_, [](const Number& x) { return Traits::is_broken(x); });
  }
  // The only state that the symbol's reveal allows, if there is only one.
  std::optional<StateId> only_state(SymbolId symbol) {
    const Compiled& c = compiled(symbol);
    if (!c.has_reveal || !c.weights.empty() || c.forbidden.size() + 1 != mass_.size()) return {};
    StateId q = 0;
    while (q < c.forbidden.size() && c.forbidden[q] == q) ++q;
    return q;
  }
  bool holds(StateId state) const { return !Traits::is_zero(mass_[state]); }

  double log_mass() const { return log_sum(mass_); }  // in double
  std::vector<double> belief() const { return normalised(mass_); }
  std::vector<double> predict(VariableId variable) const {
    const std::vector<double> all = belief();
    const int n = static_cast<int>(automaton_.space().degree());
    std::vector<double> sums(automaton_.space().degree());
    // Lexicographic order: the values of the variables before it choose a block.
    for (std::uint32_t q = 0; q < all.size(); ++q) {
      if (all[q] != 0) sums[static_cast<std::size_t>(value_of(n, q, variable))] += all[q];
    }
    return sums;
  }
  std::uint64_t support() const {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(mass_, [](const Number& x) { return !Traits::is_zero(x); }));
  }
  std::vector<double> state() const {
    std::vector<double> result;
    for (const Number& x : mass_) result.push_back(plain(x));
    return result;
  }
  double entropy() const { return entropy_of(belief()); }
  const std::vector<Number>& mass() const { return mass_; }
  void set_mass(const std::vector<Number>& mass) { mass_ = mass; }

 private:
  struct Compiled {
    bool ready = false;
    bool has_reveal = false;
    std::vector<StateId> forbidden;                         // hard reveals
    std::vector<Number> weights;                            // soft ones
    std::vector<std::shared_ptr<const IndexTable>> tables;  // shuffles; null is the identity
    std::vector<Number> outcome_weights;
    std::vector<std::uint32_t> offsets;  // kernels
    std::vector<StateId> targets;
    std::vector<Number> target_weights;
  };

  static int value_of(int n, std::uint32_t rank, VariableId variable) {
    return Permutation::unrank(n, rank)(variable);
  }

  void gather(const Compiled& c) {
    const std::size_t size = mass_.size();
    for (std::size_t k = 0; k < c.tables.size(); ++k) {
      const Number& weight = c.outcome_weights[k];
      const bool certain = c.tables.size() == 1;
      if (!c.tables[k]) {  // the identity
        for (std::size_t q = 0; q < size; ++q) add(k, q, weight * mass_[q]);
      } else if (certain) {
        const std::uint32_t* from = c.tables[k]->data();
        for (std::size_t q = 0; q < size; ++q) next_[q] = mass_[from[q]];
      } else {
        const std::uint32_t* from = c.tables[k]->data();
        for (std::size_t q = 0; q < size; ++q) add(k, q, weight * mass_[from[q]]);
      }
    }
  }
  void add(std::size_t outcome, std::size_t q, const Number& x) {
    if (outcome == 0) {
      next_[q] = x;
    } else {
      next_[q] += x;
    }
  }

  const Compiled& compiled(SymbolId id) {
    Compiled& c = compiled_[id];
    if (c.ready) return c;
    c.ready = true;
    const Symbol& symbol = automaton_.symbol(id);
    const StateSpace& space = automaton_.space();
    if (!symbol.policy.empty() || std::holds_alternative<StateWeights>(symbol.reveal)) {
      c.has_reveal = true;
      for (StateId q = 0; q < mass_.size(); ++q)
        c.weights.push_back(Traits::from(reveal_weight(space, symbol, q)));
    } else if (!symbol.is_transition_only()) {
      c.has_reveal = true;
      for (StateId q = 0; q < mass_.size(); ++q) {
        if (!allows(space, symbol, q)) c.forbidden.push_back(q);
      }
    }
    if (const auto* shuffle = std::get_if<Shuffle>(&symbol.transition)) {
      for (std::size_t k = 0; k < shuffle->outcomes.size(); ++k) {
        const Permutation s = acting(shuffle->outcomes[k], shuffle->acts);
        if (s.is_identity() && shuffle->outcomes.size() == 1) break;
        c.tables.push_back(s.is_identity()
                               ? nullptr
                               : predecessors(static_cast<int>(space.degree()), s, shuffle->acts));
        c.outcome_weights.push_back(Traits::from(shuffle->weights[k]));
      }
    }
    if (const auto* kernel = std::get_if<Kernel>(&symbol.transition)) {
      c.offsets = kernel->offsets;
      c.targets = kernel->targets;
      for (const Rational& weight : kernel->weights)
        c.target_weights.push_back(Traits::from(weight));
    }
    return c;
  }

  const Automaton& automaton_;
  std::vector<Compiled> compiled_;
  std::vector<Number> mass_, next_;
};

}  // namespace shellgame
