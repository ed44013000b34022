// Random programs for properties: every kind of event, any names that the language allows.
#pragma once

#include <rapidcheck.h>

#include "shellgame/programs/program.h"

namespace shellgame {

// Whether what a program prints may contradict its states, and a print itself.
enum class Evidence { kTrue, kAny };

// A program whose evidence fits its states under the given python seed, unless any is asked for. A
// print may name a variable twice.
rc::Gen<Program> arbitrary_program(std::uint32_t python_seed = 0,
                                   Evidence evidence = Evidence::kTrue);

}  // namespace shellgame
