// Automata that ship, by name.
#pragma once

#include <string>
#include <vector>

#include "shellgame/automata/automaton_file.h"

namespace shellgame {

// Small automata with a word that is one cycle: "halving" (one number, halved each cycle),
// "joint-cycle" and "marginal-cycle" (the paper's two figures on decay), "replenished-cycle" (the
// latter, with the other variable shown once every `every` cycles), "monty-hall".
std::vector<std::string> example_names();
AutomatonFile example_automaton(const std::string& name, std::uint64_t every = 8);

}  // namespace shellgame
