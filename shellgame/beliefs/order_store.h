// The mass of every order of up to 12 values in one vector, moved by the passes of
// permutation_vector.h: no table or matrix of its size beside it. What a joint filter works on when
// dense_store.h would need index tables. Dividing costs no pass: a factor is carried along.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "shellgame/automata/automaton.h"
#include "shellgame/beliefs/orders.h"
#include "shellgame/numbers/decode.h"
#include "shellgame/passes/permutation_vector.h"
#include "shellgame/system/buffer.h"
#include "shellgame/system/memory_promise.h"
#include "shellgame/text/error.h"

namespace shellgame {

// What the entries mean: masses, or 1 for all that is possible and 0 for the rest, exactly.
enum class OrderNumbers { kMasses, kTruth };

template <class Real>  // float or double
class OrderStore {
 public:
  using number_type = double;  // of sums and factors

  explicit OrderStore(const Automaton& automaton, OrderNumbers numbers = OrderNumbers::kMasses)
      : automaton_(automaton),
        n_(static_cast<int>(automaton.space().degree())),
        truth_(numbers == OrderNumbers::kTruth) {
    if (!automaton.space().is_orders() || n_ > 12)
      wrong_use("a vector over all orders needs at most 12 variables, not {}", n_);
    size_ = automaton.space().size();
    put(automaton.start());
  }

  // Gives the memory back; put, put_state and clear ask for it again.
  void release() {
    mass_ = Buffer<Real>();
    next_ = Buffer<Real>();
    promise_ = MemoryPromise();
  }

  void put(const Distribution& distribution) {
    factor_ = 1;
    if (distribution.groups.size() == 1 && n_ > 1) {  // uniform
      fill(truth_ ? Real{1} : static_cast<Real>(1.0 / static_cast<double>(size())));
      return;
    }
    fill(0);
    if (distribution.groups.empty()) {
      for (const auto& [state, weight] : distribution.states) mass_[state] += number(weight);
      if (truth_) only_truth();
    } else {
      const auto orders = orders_of(automaton_.space(), distribution.groups);
      const auto each = static_cast<Real>(truth_ ? 1.0 : 1.0 / static_cast<double>(orders.size()));
      for (Permutation order : orders) mass_[order.rank(n_)] = each;
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
      if (mass_[q] != 0) mass_[q] *= number(reveal_weight(automaton_.space(), symbol, q));
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
    const std::vector<Permutation> outcomes = outcomes_of(*shuffle);
    std::vector<Real> weights;
    if (!fits_weights(*shuffle)) apply(1);
    for (const Rational& weight : shuffle->weights)
      weights.push_back(truth_ ? number(weight) : static_cast<Real>(to_double(weight) * factor_));
    factor_ = 1;
    if (can_mix_in_place(outcomes)) {
      mix_in_place<Real>(n_, shuffle->acts, outcomes, weights, mass_.data());
    } else {
      next_.resize(size());
      mix<Real>(n_, shuffle->acts, outcomes, weights, mass_.data(), next_.data());
      std::swap(mass_, next_);
      promise_.take(bytes());
    }
    if (truth_) only_truth();
    total_.reset();
  }

  double total() const { return total_ ? *total_ : factor_ * shellgame::sum(n_, mass_.data()); }
  void divide(double by) {
    const double factor = factor_ * (1 / by);
    // Far from 1 the factor would take part in every sum: put it into the vector.
    if (!(factor < 1 / kLeastFactor && factor > kLeastFactor)) return apply(by, true);
    factor_ = factor;
    if (total_) *total_ *= 1 / by;
  }
  // At once: a recurrence that is not renormalised has its numbers in the format, not in a factor.
  void scale(double by) {
    if (by != 1 || factor_ != 1) apply(by);
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
    std::uint32_t variables = 0, values = 0;
    for (const Cell& cell : cells->cells) {
      if (cell.values.size() != 1) return {};
      order[cell.variable] = cell.values[0];
      variables |= 1u << cell.variable;
      values |= 1u << cell.values[0];
    }
    // A print may name a variable twice, or one value for two.
    if (variables + 1 != 1u << n_ || values + 1 != 1u << n_) return {};
    return static_cast<StateId>(Permutation::from_images(order).rank(n_));
  }
  bool holds(StateId state) const { return mass_[state] != 0; }
  double share(StateId state) const {
    return static_cast<double>(mass_[state]) / shellgame::sum(n_, mass_.data());
  }

  double log_mass() const { return std::log(total()); }
  std::vector<double> belief() const {
    const MemoryPromise promise = promise_of_list();
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
    const MemoryPromise promise = promise_of_list();
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
  // The factor stays between this and its inverse, far inside of what a float holds.
  static constexpr double kLeastFactor = 1e-30;

  std::size_t size() const { return size_; }
  std::uint64_t bytes() const { return size_ * sizeof(Real); }  // 12! doubles have 3.6 GiB
  Real number(const Rational& weight) const {
    return truth_ ? Real(weight != 0 ? 1 : 0) : static_cast<Real>(to_double(weight));
  }
  static std::vector<Permutation> outcomes_of(const Shuffle& shuffle) {
    std::vector<Permutation> outcomes;
    for (const Permute& outcome : shuffle.outcomes)
      outcomes.push_back(acting(outcome, shuffle.acts));
    return outcomes;
  }

  void fill(Real value) {
    total_.reset();
    if (mass_.size() == 0) make();
    for (std::size_t q = 0; q < size(); ++q) mass_[q] = value;
    promise_.take(bytes());
  }
  // The second vector is asked for at once, where some symbol will need it.
  void make() {
    const bool second = std::ranges::any_of(automaton_.symbols(), [](const Symbol& symbol) {
      const auto* shuffle = std::get_if<Shuffle>(&symbol.transition);
      return shuffle != nullptr && !can_mix_in_place(outcomes_of(*shuffle));
    });
    promise_ = MemoryPromise((second ? 2 : 1) * bytes(),
                             fmt::format("a belief over all orders of {} variables", n_));
    mass_.resize(size_);
  }
  MemoryPromise promise_of_list() const {
    return {size_ * sizeof(double), fmt::format("a list of all orders of {} variables", n_)};
  }

  // Whether the factor can go into the weights without a loss: no product leaves the format's
  // ordinary numbers.
  bool fits_weights(const Shuffle& shuffle) const {
    return factor_ == 1 || std::ranges::all_of(shuffle.weights, [&](const Rational& weight) {
             const double product = to_double(weight) * factor_;
             return product == 0 || product >= std::numeric_limits<Real>::min();
           });
  }
  // Puts the factor and `by` (or its inverse) into the vector. Their product may be outside of
  // what a double holds, and a product with 0 must stay 0.
  void apply(double by, bool inverse = false) {
    int of_factor = 0, of_by = 0;
    const double a = std::frexp(factor_, &of_factor), b = std::frexp(by, &of_by);
    const double part = inverse ? a / b : a * b;
    const int power = inverse ? of_factor - of_by : of_factor + of_by;
    for (std::size_t q = 0; q < size(); ++q) {
      if (mass_[q] != 0)
        mass_[q] = static_cast<Real>(std::ldexp(part * static_cast<double>(mass_[q]), power));
    }
    factor_ = 1;
    total_.reset();
  }
  void only_truth() {
    for (std::size_t q = 0; q < size(); ++q) mass_[q] = mass_[q] != 0 ? Real{1} : Real{0};
  }

  const Automaton& automaton_;
  int n_;
  bool truth_;
  std::size_t size_ = 0;
  MemoryPromise promise_;
  Buffer<Real> mass_, next_;
  double factor_ = 1;
  std::optional<double> total_;  // known after a reveal
};

}  // namespace shellgame
