// Random automata and words, and their neutral JSON form, which the oracles read.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shellgame/automata/automaton.h"
#include "shellgame/random/philox.h"

namespace shellgame {

struct BeliefCase {
  Automaton automaton;
  std::vector<SymbolId> word;
};

// Up to `most_states` listed states and 5 symbols with small fractions: hard and soft reveals,
// sparse kernels, deterministic ones, resets, policies. The word is drawn from the automaton.
BeliefCase random_case(RandomStream& stream, std::size_t most_states, std::size_t length);

// The case as the oracles read it (see README.md), with exact fractions.
nlohmann::json to_json(const BeliefCase& one);
// A symbol for each step. Floating-point columns are made to sum to 1 in their last entry.
BeliefCase from_json(const nlohmann::json& json);

// Feeds all cases to a program and returns its answers, a line each.
std::vector<nlohmann::json> ask_oracle(const std::vector<std::string>& command,
                                       const std::vector<BeliefCase>& cases);

}  // namespace shellgame
