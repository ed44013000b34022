// One number that sums up what the generator does: seeded traces, beliefs, lexemes and sequences. A
// commit that changes it says so.
#pragma once

#include <cstdint>

namespace shellgame {

std::uint64_t signature();

}  // namespace shellgame
