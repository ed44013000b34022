// The mass of every order of up to 12 values in one vector, moved by the passes of
// permutation_vector.h: no table or matrix of its size beside it. What a joint filter works on when
// dense_store.h would need index tables. Dividing costs no pass: a factor is carried along.
#pragma once

#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "shellgame/automata/automaton.h"
#include "shellgame/beliefs/decode.h"
#include "shellgame/beliefs/orders.h"
#include "shellgame/beliefs/permutation_vector.h"
#include "shellgame/system/buffer.h"
#include "shellgame/system/error.h"
#include "shellgame/system/threads.h"

namespace shellgame {

template <class Real>  // float or double
class OrderStore {
 public:
  using number_type = double;  // of sums and factors

  explicit OrderStore(const Automaton& automaton)
      : automaton_(automaton), n_(static_cast<int>(automaton.space().degree())) {
    if (!automaton.space().is_orders() || n_ > 12)
      wrong_use("a vector over all orders needs at most 12 variables, not {}", n_);
    mass_.resize(automaton.space().size());
    put(automaton.start());
  }

  void put(const Distribution& distribution) {
    factor_ = 1;
    if (distribution.groups.size() == 1 && n_ > 1) {  // uniform
      fill(static_cast<Real>(1.0 / static_cast<double>(size())));
      return;
    }
    fill(0);
    if (distribution.groups.empty()) {
      for (const auto& [state, weight] : distribution.states)
        mass_[state] += static_cast<Real>(to_double(weight));
    } else {
      const auto orders = orders_of(automaton_.space(), distribution.groups);
      for (Permutation order : orders)
        mass_[order.rank(n_)] = static_cast<Real>(1.0 / static_cast<double>(orders.size()));
    }
  }
  void put_state(StateId state) {
    factor_ = 1;
    fill(0);
    mass_[state] = 1;
  }
  void put_order(Permutation order, double mass) {
    mass_[order.rank(n_)] = static_cast<Real>(mass);
  }
  void clear() {
    factor_ = 1;
    fill(0);
  }

  bool reveal(SymbolId id) {
    const Symbol& symbol = automaton_.symbol(id);
    total_.reset();
    if (symbol.policy.empty()) {
      if (symbol.is_transition_only()) return false;
      if (const auto* cells = std::get_if<Cells>(&symbol.reveal)) {
        for (const Cell& cell : cells->cells) {
          std::uint32_t allowed = 0;
          for (ValueId value : cell.values) allowed |= 1u << value;
          total_ = factor_ * shellgame::reveal(n_, cell.variable, allowed, mass_.data());
        }
        return true;
      }
    }
    for (StateId q = 0; q < size(); ++q) {
      if (mass_[q] != 0)
        mass_[q] *= static_cast<Real>(to_double(reveal_weight(automaton_.space(), symbol, q)));
    }
    return true;
  }

  void move(SymbolId id) {
    const auto* shuffle = std::get_if<Shuffle>(&automaton_.symbol(id).transition);
    if (shuffle == nullptr) {
      if (automaton_.symbol(id).is_reveal_only()) return;
      wrong_use("symbol '{}': more than {} orders can only be moved by shuffles",
                automaton_.symbol(id).name, 40320);
    }
    std::vector<Permutation> outcomes;
    std::vector<Real> weights;
    // The factor goes into the weights, unless it would leave the format's range.
    const bool absorb = factor_ < 1e30 && factor_ > 1e-30;
    for (std::size_t k = 0; k < shuffle->outcomes.size(); ++k) {
      outcomes.push_back(acting(shuffle->outcomes[k], shuffle->acts));
      weights.push_back(
          static_cast<Real>(to_double(shuffle->weights[k]) * (absorb ? factor_ : 1.0)));
    }
    if (absorb) factor_ = 1;
    if (can_mix_in_place(outcomes)) {
      mix_in_place<Real>(n_, shuffle->acts, outcomes, weights, mass_.data());
    } else {
      next_.resize(size());
      mix<Real>(n_, shuffle->acts, outcomes, weights, mass_.data(), next_.data());
      std::swap(mass_, next_);
    }
    total_.reset();
  }

  double total() const { return total_ ? *total_ : factor_ * shellgame::sum(n_, mass_.data()); }
  void divide(double by) {
    if (by > 1e-30) return scale(1 / by);
    // 1 / by may lie outside the format; the largest entries become ordinary numbers again.
    for (std::size_t q = 0; q < size(); ++q)
      mass_[q] = static_cast<Real>(factor_ * static_cast<double>(mass_[q]) / by);
    factor_ = 1;
    total_.reset();
  }
  void scale(double by) {
    factor_ *= by;
    if (total_) *total_ *= by;
    // Far from 1 the factor would take part in every sum: put it into the vector.
    if (factor_ > 1e30 || factor_ < 1e-30) {
      shellgame::scale(n_, static_cast<Real>(factor_), mass_.data());
      factor_ = 1;
    }
  }
  bool vanished() const { return total() == 0; }
  bool broken() const { return !std::isfinite(total()); }
  std::optional<StateId> only_state(SymbolId id) {
    const Symbol& symbol = automaton_.symbol(id);
    if (!symbol.policy.empty()) return {};
    if (const auto* set = std::get_if<StateSet>(&symbol.reveal); set && set->states.size() == 1)
      return set->states[0];
    const auto* cells = std::get_if<Cells>(&symbol.reveal);
    if (cells == nullptr || static_cast<int>(cells->cells.size()) != n_) return {};
    std::vector<int> order(static_cast<std::size_t>(n_));
    for (const Cell& cell : cells->cells) {
      if (cell.values.size() != 1) return {};
      order[cell.variable] = cell.values[0];
    }
    return static_cast<StateId>(Permutation::from_images(order).rank(n_));
  }
  bool holds(StateId state) const { return mass_[state] != 0; }

  double log_mass() const { return std::log(total()); }
  std::vector<double> belief() const {
    std::vector<double> all(size());
    const double sum = shellgame::sum(n_, mass_.data());
    for (std::size_t q = 0; q < all.size(); ++q) all[q] = static_cast<double>(mass_[q]) / sum;
    return all;
  }
  std::vector<double> predict(VariableId variable) const {
    std::vector<double> sums(static_cast<std::size_t>(n_));
    shellgame::predict(n_, variable, mass_.data(), sums.data());
    return normalised(sums);
  }
  double chance(SymbolId id) const {
    const Symbol& symbol = automaton_.symbol(id);
    if (symbol.policy.empty() && symbol.is_transition_only()) return 1;
    const auto* cells = std::get_if<Cells>(&symbol.reveal);
    if (symbol.policy.empty() && cells != nullptr && cells->cells.size() == 1) {
      const std::vector<double> row = predict(cells->cells[0].variable);
      double sum = 0;
      for (ValueId value : cells->cells[0].values) sum += row[value];
      return sum;
    }
    double kept = 0, all = 0;
    for (StateId q = 0; q < size(); ++q) {
      if (mass_[q] == 0) continue;
      all += static_cast<double>(mass_[q]);
      kept +=
          static_cast<double>(mass_[q]) * to_double(reveal_weight(automaton_.space(), symbol, q));
    }
    return kept / all;
  }
  std::uint64_t support() const {
    std::uint64_t count = 0;
    for (std::size_t q = 0; q < size(); ++q) count += mass_[q] != 0 ? 1 : 0;
    return count;
  }
  std::vector<double> state() const {
    std::vector<double> all(size());
    for (std::size_t q = 0; q < all.size(); ++q) all[q] = factor_ * static_cast<double>(mass_[q]);
    return all;
  }
  double entropy() const {
    const double sum = shellgame::sum(n_, mass_.data());
    double result = 0;
    for (std::size_t q = 0; q < size(); ++q) {
      const double p = static_cast<double>(mass_[q]) / sum;
      result -= p > 0 ? p * std::log(p) : 0;
    }
    return result;
  }

 private:
  std::size_t size() const { return mass_.size(); }
  void fill(Real value) {
    total_.reset();
    for (std::size_t q = 0; q < size(); ++q) mass_[q] = value;
  }

  const Automaton& automaton_;
  int n_;
  Buffer<Real> mass_, next_;
  double factor_ = 1;
  std::optional<double> total_;  // known after a reveal
};

}  // namespace shellgame
