// The checks of an automaton's parts, for its constructor.
#pragma once

#include <vector>

#include "shellgame/automata/automaton.h"

namespace shellgame {

// Throws UsageError that names symbol and state.
void check_automaton(const StateSpace& space, const Distribution& start,
                     const std::vector<Symbol>& symbols);

}  // namespace shellgame
