// What all symbols together tell about earlier states: inverse inference (an unknown start that
// later outputs constrain) needs it, where filtering only looks back.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "shellgame/automata/automaton.h"

namespace shellgame {

// Forward-backward: visit(t, p) gets p(q_t | all symbols) for t = T, T-1, ..., 0, where q_t is the
// state before symbol t (q_T is the state after the last). Returns the log of the probability of
// all evidence. Keeps about 2 sqrt(T) vectors. Throws ZeroEvidence as an exact filter does, and
// Error if memory cannot hold them.
double smooth(const Automaton& automaton, std::span<const SymbolId> word,
              const std::function<void(std::size_t, const std::vector<double>&)>& visit);

// The whole list, for small cases: result[t][q].
std::vector<std::vector<double>> smoothed(const Automaton& automaton,
                                          std::span<const SymbolId> word);

// Throws UsageError unless both are possible for the automaton: so that who has a filter to run
// first need not run it.
void check_smoothing(const Automaton& automaton);

struct Path {
  std::vector<StateId> states;  // q_0 ... q_T
  double log_probability = 0;   // of the states and all evidence together
};

// The most likely path (Viterbi); among equals the one whose later states come first in the order.
// Needs 4 bytes for each state and symbol; throws Error if memory has not so much.
Path most_likely_path(const Automaton& automaton, std::span<const SymbolId> word);

}  // namespace shellgame
