// The game of an adversary against a recurrence that never renormalises: in each situation it may
// say any mixture of the automaton, or any single reveal that the exact belief allows, and a reveal
// shrinks what the recurrence holds. Situations that differ only in the names of variables and
// values are one (the relabellings that keep the alphabet).
//
// Joint: a situation is the exact belief b, and a reveal costs the factor |Z b|_1.
// Marginal: mixing keeps the sum of every column of H, a reveal of (i, j) sets column j to e_i and
// takes H(i, k) from every other column k; so each column is a recurrence of its own, and one that
// is never revealed itself can only lose. A situation is the set of possible orders, a target value
// that stays unrevealed, and the direction u of its column; a reveal at i costs the factor 1 - u_i.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shellgame/automata/automaton.h"

namespace shellgame {

enum class Representation : std::uint8_t { kJoint, kMarginal };
Representation parse_representation(std::string_view name);  // throws UsageError
std::string_view to_string(Representation representation);

struct Situation {
  std::vector<std::pair<Permutation, double>> orders;  // sorted; joint: with their probabilities
  std::vector<double> column;                          // marginal: u
  int target = 0;                                      // marginal: the value of that column
};

struct AttackAction {
  SymbolId symbol = 0;
  std::vector<std::pair<Permutation, double>> outcomes;  // empty for a reveal
  int variable = 0, value = 0;                           // of a reveal
  bool is_mixing() const { return !outcomes.empty(); }
};

// New names: variable v becomes positions(v), value x becomes values(x).
struct Relabelling {
  Permutation positions, values;
};

class AttackGame {
 public:
  static constexpr int kMostVariables = 7;

  // Values are compared at `resolution`. Throws UsageError unless the automaton has orders of 2 to
  // 7 variables, shuffles of positions, and reveals of one value of one variable.
  AttackGame(const Automaton& automaton, Representation representation, double resolution);

  const std::vector<AttackAction>& actions() const { return actions_; }
  // Where the game begins: one situation, or one for each target.
  std::vector<Situation> starts() const;

  struct Played {
    Situation to;
    double log_factor = 0;
  };
  // Nothing if the reveal is impossible, resets the target, or changes nothing.
  std::optional<Played> play(const Situation& situation, const AttackAction& action) const;
  // The log of the smallest factor that one reveal has here.
  double best_reveal(const Situation& situation) const;

  // Puts a situation under the names that all its relabellings share.
  Relabelling canonicalise(Situation& situation) const;
  // The same bytes for the same situation.
  std::string key(const Situation& situation) const;
  // The action that does under the new names what `action` did under the old.
  const AttackAction& renamed(const AttackAction& action, const Relabelling& names) const;
  std::size_t symmetries() const { return symmetries_.size(); }
  // The least probability of an outcome of any mixture. A path that survives loses at most this
  // factor with each mixing, in both representations: no attack is faster per mixing command.
  Rational bound_per_mixing() const { return bound_; }

 private:
  using MixKey = std::vector<std::pair<std::uint64_t, std::int64_t>>;
  MixKey conjugate(const AttackAction& mixing, Permutation by) const;
  std::int64_t rounded(double x) const;
  std::vector<std::uint64_t> form(const Situation& situation, Permutation base,
                                  Permutation positions) const;

  const Automaton& automaton_;
  Representation representation_;
  double resolution_;
  int n_;
  Rational bound_ = 1;
  std::vector<AttackAction> actions_;
  std::map<MixKey, std::size_t> mixings_;
  std::map<std::pair<int, int>, std::size_t> reveals_;
  std::vector<Permutation> symmetries_;  // of positions
};

}  // namespace shellgame
