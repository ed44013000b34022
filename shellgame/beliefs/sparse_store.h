// The mass of the reachable states alone, in a hash: what a joint filter works on when there are
// too many states for a vector. States of order spaces are packed permutations (up to 16
// variables). Entries keep the order in which they were first reached, so that sums do not depend
// on the hash.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "shellgame/automata/automaton.h"
#include "shellgame/beliefs/orders.h"
#include "shellgame/numbers/decode.h"
#include "shellgame/system/memory.h"
#include "shellgame/text/error.h"

namespace shellgame {

template <class Number>
class SparseStore {
 public:
  using Traits = NumberTraits<Number>;
  using number_type = Number;
  using Key = std::uint64_t;  // the packed order, or the number of a listed state

  explicit SparseStore(const Automaton& automaton) : automaton_(automaton) {
    if (automaton.space().degree() > static_cast<std::size_t>(kMaxPoints)) {
      wrong_use("a sparse filter needs at most {} variables, not {}", kMaxPoints,
                automaton.space().degree());
    }
    put(automaton.start());
  }

  void put(const Distribution& distribution) {
    clear();
    if (distribution.groups.empty()) {
      for (const auto& [state, weight] : distribution.states) add(key(state), Traits::from(weight));
      return;
    }
    const std::vector<Permutation> orders = orders_of(automaton_.space(), distribution.groups);
    const Number each = Traits::from(Rational(1, static_cast<unsigned long>(orders.size())));
    for (Permutation order : orders) add(order.bits(), each);
  }
  void put_state(StateId state) {
    clear();
    add(key(state), Traits::from(1));
  }

  bool reveal(SymbolId id) {
    const Symbol& symbol = automaton_.symbol(id);
    if (symbol.policy.empty() && symbol.is_transition_only()) return false;
    std::size_t kept = 0;
    const Number one = Traits::from(1);
    for (const Entry& entry : entries_) {
      const Number weight = weight_of(symbol, entry.key);
      if (Traits::is_zero(weight)) continue;
      Number mass = weight == one ? entry.mass : Number(entry.mass * weight);
      if (Traits::is_zero(mass)) continue;
      entries_[kept++] = {entry.key, std::move(mass)};
    }
    entries_.resize(kept);
    rebuild();
    return true;
  }

  void move(SymbolId id) {
    const Symbol& symbol = automaton_.symbol(id);
    if (symbol.is_reveal_only()) return;
    std::vector<Entry> old;
    old.swap(entries_);
    clear();
    if (const auto* shuffle = std::get_if<Shuffle>(&symbol.transition)) {
      const std::size_t count = shuffle->outcomes.size();
      for (std::size_t k = 0; k < count; ++k) {
        const Permutation s = acting(shuffle->outcomes[k], shuffle->acts);
        const Number weight = Traits::from(shuffle->weights[k]);
        for (const Entry& entry : old) {
          const Key to = moved(Permutation::from_bits(entry.key), s, shuffle->acts).bits();
          add(to, count == 1 ? entry.mass : Number(weight * entry.mass));
        }
      }
    } else {
      const auto& kernel = std::get<Kernel>(symbol.transition);
      for (const Entry& entry : old) {
        const StateId from = number(entry.key);
        for (std::uint32_t k = kernel.offsets[from]; k < kernel.offsets[from + 1]; ++k)
          add(key(kernel.targets[k]), Number(Traits::from(kernel.weights[k]) * entry.mass));
      }
    }
    std::erase_if(entries_, [](const Entry& entry) { return Traits::is_zero(entry.mass); });
    rebuild();
  }

  Number total() const {
    Number sum{};
    for (const Entry& entry : entries_) sum += entry.mass;
    return sum;
  }
  void divide(const Number& by) {
    for (Entry& entry : entries_) entry.mass = entry.mass / by;
  }
  void scale(const Number& by) {
    for (Entry& entry : entries_) entry.mass *= by;
  }
  bool vanished() const { return support() == 0; }
  bool broken() const {
    return std::ranges::any_of(entries_, [](const Entry& e) { return Traits::is_broken(e.mass); });
  }
  std::optional<StateId> only_state(SymbolId id) {
    const auto* set = std::get_if<StateSet>(&automaton_.symbol(id).reveal);
    if (set == nullptr || set->states.size() != 1) return {};
    return set->states[0];
  }
  bool holds(StateId state) const { return find(key(state)) != nullptr; }

  double log_mass() const { return log_sum(masses()); }
  std::vector<double> belief() const {
    std::vector<double> all(automaton_.space().size());
    const std::vector<double> mine = normalised(masses());
    for (std::size_t i = 0; i < entries_.size(); ++i) all[number(entries_[i].key)] = mine[i];
    return all;
  }
  std::vector<double> predict(VariableId variable) const {
    const std::vector<double> mine = normalised(masses());
    std::vector<double> sums(automaton_.space().degree());
    for (std::size_t i = 0; i < entries_.size(); ++i)
      sums[static_cast<std::size_t>(Permutation::from_bits(entries_[i].key)(variable))] += mine[i];
    return sums;
  }
  double chance(SymbolId id) const {
    const std::vector<double> mine = normalised(masses());
    double sum = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i)
      sum += mine[i] * plain_weight(automaton_.symbol(id), entries_[i].key);
    return sum;
  }
  std::uint64_t support() const {
    return static_cast<std::uint64_t>(std::ranges::count_if(
        entries_, [](const Entry& entry) { return !Traits::is_zero(entry.mass); }));
  }
  std::vector<double> state() const {
    std::vector<double> result;
    for (const Entry& entry : entries_) result.push_back(plain(entry.mass));
    return result;
  }
  double entropy() const { return entropy_of(normalised(masses())); }

  std::size_t entries() const { return entries_.size(); }
  void release() {
    entries_ = {};
    slots_ = {};
  }
  template <class Visit>
  void each_order(const Visit& visit) const {
    for (const Entry& entry : entries_) visit(Permutation::from_bits(entry.key), entry.mass);
  }

 private:
  struct Entry {
    Key key;
    Number mass;
  };

  Key key(StateId state) const {
    const StateSpace& space = automaton_.space();
    return space.is_orders() ? Permutation::unrank(static_cast<int>(space.degree()), state).bits()
                             : state;
  }
  StateId number(Key key) const {
    const StateSpace& space = automaton_.space();
    return static_cast<StateId>(
        space.is_orders() ? Permutation::from_bits(key).rank(static_cast<int>(space.degree()))
                          : key);
  }

  static bool fits(const Cells& cells, Permutation order) {
    return std::ranges::all_of(cells.cells, [&](const Cell& cell) {
      return std::ranges::binary_search(cell.values, order(cell.variable));
    });
  }
  Number weight_of(const Symbol& symbol, Key key) const {
    if (symbol.policy.empty()) {
      if (const auto* cells = std::get_if<Cells>(&symbol.reveal))
        return Traits::from(fits(*cells, Permutation::from_bits(key)) ? 1 : 0);
    }
    return Traits::from(reveal_weight(automaton_.space(), symbol, number(key)));
  }
  double plain_weight(const Symbol& symbol, Key key) const {
    if (symbol.policy.empty()) {
      if (const auto* cells = std::get_if<Cells>(&symbol.reveal))
        return fits(*cells, Permutation::from_bits(key)) ? 1 : 0;
      if (symbol.is_transition_only()) return 1;
    }
    return to_double(reveal_weight(automaton_.space(), symbol, number(key)));
  }

  std::vector<Number> masses() const {
    std::vector<Number> all;
    all.reserve(entries_.size());
    for (const Entry& entry : entries_) all.push_back(entry.mass);
    return all;
  }

  // Open addressing: slots_ holds an entry's index plus one.
  static std::size_t hash(Key key) {
    key *= 0x9E3779B97F4A7C15u;
    return static_cast<std::size_t>(key ^ (key >> 29));
  }
  std::size_t slot(Key key) const {
    std::size_t at = hash(key) & (slots_.size() - 1);
    while (slots_[at] != 0 && entries_[slots_[at] - 1].key != key)
      at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  const Entry* find(Key key) const {
    const std::uint32_t index = slots_[slot(key)];
    return index == 0 ? nullptr : &entries_[index - 1];
  }
  void clear() {
    entries_.clear();
    slots_.assign(16, 0);
  }
  void add(Key key, const Number& mass) {
    if (2 * (entries_.size() + 1) > slots_.size()) grow();
    const std::size_t at = slot(key);
    if (slots_[at] != 0) {
      entries_[slots_[at] - 1].mass += mass;
      return;
    }
    if (entries_.size() >= kMostEntries) {
      fail("a sparse filter must stay below {} reachable states", kMostEntries);
    }
    entries_.push_back({key, mass});
    slots_[at] = static_cast<std::uint32_t>(entries_.size());
  }
  void grow() {
    // While a vector grows there is a copy of it. Small ones are not worth the question.
    if (slots_.size() >= kAsked) {
      require_memory(4 * slots_.size() * sizeof(std::uint32_t) + 2 * slots_.size() * sizeof(Entry),
                     fmt::format("a sparse filter of {} reachable states", slots_.size()));
    }
    slots_.assign(2 * slots_.size(), 0);
    for (std::size_t i = 0; i < entries_.size(); ++i)
      slots_[slot_free(entries_[i].key)] = static_cast<std::uint32_t>(i + 1);
  }
  std::size_t slot_free(Key key) const {
    std::size_t at = hash(key) & (slots_.size() - 1);
    while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void rebuild() {
    std::size_t size = 16;
    while (size < 2 * (entries_.size() + 1)) size *= 2;
    slots_.assign(size, 0);
    for (std::size_t i = 0; i < entries_.size(); ++i)
      slots_[slot_free(entries_[i].key)] = static_cast<std::uint32_t>(i + 1);
  }

  static constexpr std::size_t kAsked = std::size_t{1} << 21;
  static constexpr std::size_t kMostEntries = std::size_t{1} << 28;
  const Automaton& automaton_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace shellgame
