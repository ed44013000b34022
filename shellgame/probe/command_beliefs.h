// The exact belief about the state after each command of an uncertain program. No Torch.
#pragma once

#include <vector>

#include "shellgame/programs/program.h"

namespace shellgame {

// p(variable has value | text up to the command), n x n by rows of variables, for each command in
// its order. What later lines show is not used.
std::vector<std::vector<double>> beliefs_after(const Program& program);

}  // namespace shellgame
