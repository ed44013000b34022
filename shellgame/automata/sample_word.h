// Drawing words of an automaton under the consistency constraint: the environment sees the state
// and says a symbol that allows it, by the policy if there is one, else each with the same chance.
// Only where that choice is blind (Automaton::is_blind) is the paper's belief,
// which knows no policy, the Bayes belief of these words.
#pragma once

#include <vector>

#include "shellgame/automata/automaton.h"
#include "shellgame/random/philox.h"

namespace shellgame {

struct SampledWord {
  std::vector<SymbolId> word;
  std::vector<StateId> states;  // q_0, ..., q_T: one more than symbols
};

// Draws word after word; the chances are turned into plain numbers once.
class WordSampler {
 public:
  explicit WordSampler(const Automaton& automaton);
  // Throws Error if a state is reached in which no symbol may be said.
  SampledWord sample(std::size_t length, RandomStream& stream) const;

 private:
  using Choices = std::vector<std::pair<std::uint32_t, double>>;  // with cumulative chances
  static std::uint32_t draw(const Choices& choices, RandomStream& stream);
  const Automaton& automaton_;
  Choices start_;
  std::vector<Choices> symbols_;            // of each state
  std::vector<std::vector<Choices>> next_;  // of each symbol and state; empty where it stays
};

}  // namespace shellgame
