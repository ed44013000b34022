// Random programs for properties: every kind of event, any names that the language allows.
#pragma once

#include <rapidcheck.h>

#include "shellgame/programs/program.h"

namespace shellgame {

// A program whose evidence fits its states under the given python seed.
rc::Gen<Program> arbitrary_program(std::uint32_t python_seed = 0);

}  // namespace shellgame
