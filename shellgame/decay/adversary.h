// An adversary: given an automaton and a representation, it searches the word that, repeated for
// ever with positive probability, shrinks what the linear recurrence holds fastest. Joint: |h|_1 of
// h <- T Z h. Marginal: the smallest sum of a row or column of H <- A_l H A_r + B.
//
// The search walks all situations (attack_game.h) from the start, one symbol after the other, and
// then takes the cycle of the least mean log factor among all that it saw. It draws nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shellgame/decay/attack_game.h"

namespace shellgame {

// What a fast decay is measured by.
enum class Pace : std::uint8_t { kSymbol, kMixing };

struct AdversaryOptions {
  Representation representation = Representation::kMarginal;
  Pace pace = Pace::kSymbol;
  std::size_t depth = 8;         // symbols from the start within which situations are met
  std::size_t width = 20'000;    // situations kept after each symbol, the most promising ones
  std::size_t most_orders = 64;  // situations with more possible orders are left out
  double resolution = 1e-9;      // situations that differ by less are taken for one
};

struct Attack {
  std::vector<SymbolId> before, cycle;  // one word that leads there, and the one to repeat
  std::size_t rounds = 0;               // of the cycle up to names that `cycle` is made of
  std::size_t mixings = 0;              // in the cycle
  std::size_t situations = 0, symmetries = 0;
  bool complete = false;  // nothing was left out for width or most_orders
  // Exact: the norm before the cycle and after each of the repetitions.
  std::vector<Rational> norms;
  // norms[k+1] / norms[k]; `constant` tells whether all of the last half are equal, else it is the
  // last one.
  Rational factor;
  bool constant = false;
  Rational bound_per_mixing;
  // Marginal, mixtures of at most two outcomes: the root of it, by the potential that
  // docs/adversary.md proves; else nothing is known beyond the bound per mixing.
  std::optional<double> bound_per_symbol;

  double per_symbol() const;
  double per_mixing() const;
};

// Throws Error if no word shrinks it, UsageError if the automaton does not suit.
Attack find_attack(const Automaton& automaton, const AdversaryOptions& options);

// The norm after `before`, then after each of `repetitions` cycles, in exact numbers.
std::vector<Rational> exact_norms(const Automaton& automaton, Representation representation,
                                  const std::vector<SymbolId>& before,
                                  const std::vector<SymbolId>& cycle, std::size_t repetitions);

}  // namespace shellgame
