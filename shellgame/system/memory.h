// What the system can still give, and the refusal of what needs more.
#pragma once

#include <cstdint>
#include <string>

namespace shellgame {

// In bytes; 0 where the system does not say.
std::int64_t available_memory();

// "512 MiB", "1536 GiB": four digits at most.
std::string memory_words(double bytes);

// Throws Error with both numbers if `what` ("one trace of 10 commands") needs more than there is.
// To be called before anything is made.
void require_memory(std::uint64_t bytes, const std::string& what);

}  // namespace shellgame
