// The numbers of an automaton's file, for whoever lists them.
#pragma once

#include <vector>

#include "shellgame/text/number.h"

namespace shellgame {

// Probabilities are not among them: what they must sum to bounds them.
std::vector<DeclaredNumber> automaton_numbers();

}  // namespace shellgame
