// The Bayes-optimal label of every value that a trace shows: its exact predictive distribution
// given all that the text has shown before it.
#pragma once

#include <vector>

#include "shellgame/programs/program.h"
#include "shellgame/programs/render.h"

namespace shellgame {

// One distribution over the values for each mark, in the order of the marks. A print of several
// variables is read from left to right, each value given those before it; for an assert it is the
// distribution of the variable before the line. Throws ZeroEvidence if the program contradicts
// itself, and UsageError for uncertain programs of more than 16 variables.
std::vector<std::vector<double>> predictions(const Program& program,
                                             const std::vector<RevealMark>& marks);

}  // namespace shellgame
