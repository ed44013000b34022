// The process's memory.
#pragma once

#include <cstdint>

namespace shellgame {

// Keeps freed memory for the next step instead of giving it back: fresh pages of the large tensors
// of a step cost a tenth of its time. For programs that train or run models.
void keep_freed_memory();

// What the program has asked for and not given back, in bytes.
std::int64_t memory_in_use();

// The most that the process has held since reset_peak_memory(), in bytes; 0 where the system does
// not say.
std::int64_t peak_memory();
void reset_peak_memory();

}  // namespace shellgame
