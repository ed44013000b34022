// What the linear recurrences hold along a word, in exact rational numbers.
#include <algorithm>
#include <map>

#include "shellgame/beliefs/orders.h"
#include "shellgame/decay/adversary.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// h <- T Z h on the orders that have mass.
class ExactJoint {
 public:
  explicit ExactJoint(const Automaton& automaton) : automaton_(automaton) {
    const int n = static_cast<int>(automaton.space().degree());
    for (const auto& [state, weight] : expand(automaton.space(), automaton.start()))
      mass_[Permutation::unrank(n, state)] += weight;
  }
  void step(SymbolId id) {
    const Symbol& symbol = automaton_.symbol(id);
    if (const auto* cells = std::get_if<Cells>(&symbol.reveal)) {
      for (const Cell& cell : cells->cells) {
        std::erase_if(mass_, [&](const auto& entry) {
          return !std::ranges::binary_search(cell.values, entry.first(cell.variable));
        });
      }
    }
    if (const auto* shuffle = std::get_if<Shuffle>(&symbol.transition)) {
      std::map<Permutation, Rational> old;
      old.swap(mass_);
      for (std::size_t k = 0; k < shuffle->outcomes.size(); ++k) {
        const Permutation s = acting(shuffle->outcomes[k], shuffle->acts);
        for (const auto& [order, mass] : old)
          mass_[moved(order, s, shuffle->acts)] += shuffle->weights[k] * mass;
      }
    }
  }
  Rational norm() const {
    Rational sum;
    for (const auto& [order, mass] : mass_) sum += mass;
    return sum;
  }

 private:
  const Automaton& automaton_;
  std::map<Permutation, Rational> mass_;
};

// H <- A_l H A_r + B.
class ExactMarginal {
 public:
  explicit ExactMarginal(const Automaton& automaton)
      : automaton_(automaton), n_(automaton.space().degree()), matrix_(n_ * n_) {
    for (const auto& [state, weight] : expand(automaton.space(), automaton.start())) {
      const Permutation order = Permutation::unrank(static_cast<int>(n_), state);
      for (std::size_t v = 0; v < n_; ++v)
        matrix_[v * n_ + static_cast<std::size_t>(order(static_cast<int>(v)))] += weight;
    }
  }
  void step(SymbolId id) {
    const Symbol& symbol = automaton_.symbol(id);
    if (const auto* cells = std::get_if<Cells>(&symbol.reveal)) {
      for (const Cell& cell : cells->cells) {
        const std::size_t i = cell.variable, j = cell.values.at(0);
        for (std::size_t k = 0; k < n_; ++k) matrix_[i * n_ + k] = matrix_[k * n_ + j] = 0;
        matrix_[i * n_ + j] = 1;
      }
    }
    if (const auto* shuffle = std::get_if<Shuffle>(&symbol.transition)) {
      std::vector<Rational> old(n_ * n_);
      old.swap(matrix_);
      for (std::size_t k = 0; k < shuffle->outcomes.size(); ++k) {
        const Permutation s = to_permutation(shuffle->outcomes[k]);
        for (std::size_t v = 0; v < n_; ++v) {
          const auto from = static_cast<std::size_t>(s(static_cast<int>(v)));
          for (std::size_t j = 0; j < n_; ++j)
            matrix_[v * n_ + j] += shuffle->weights[k] * old[from * n_ + j];
        }
      }
    }
  }
  Rational norm() const {
    std::vector<Rational> sums(2 * n_);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) {
        sums[i] += matrix_[i * n_ + j];
        sums[n_ + j] += matrix_[i * n_ + j];
      }
    }
    return *std::ranges::min_element(sums);
  }

 private:
  const Automaton& automaton_;
  std::size_t n_;
  std::vector<Rational> matrix_;
};

template <class Recurrence>
std::vector<Rational> run(Recurrence recurrence, const std::vector<SymbolId>& before,
                          const std::vector<SymbolId>& cycle, std::size_t repetitions) {
  for (SymbolId symbol : before) recurrence.step(symbol);
  std::vector<Rational> norms{recurrence.norm()};
  for (std::size_t k = 0; k < repetitions; ++k) {
    for (SymbolId symbol : cycle) recurrence.step(symbol);
    norms.push_back(recurrence.norm());
    if (norms.back() == 0) fail("a word must stay possible when it is repeated, and this does not");
  }
  return norms;
}

}  // namespace

std::vector<Rational> exact_norms(const Automaton& automaton, Representation representation,
                                  const std::vector<SymbolId>& before,
                                  const std::vector<SymbolId>& cycle, std::size_t repetitions) {
  if (representation == Representation::kJoint)
    return run(ExactJoint(automaton), before, cycle, repetitions);
  return run(ExactMarginal(automaton), before, cycle, repetitions);
}

}  // namespace shellgame
