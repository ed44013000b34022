// How fast a tokenizer encodes, for benchmarks.
#pragma once

#include <string_view>

#include "shellgame/tokens/tokenizer.h"

namespace shellgame {

// Encodes `text` again and again for at least `seconds` (after one round to warm up) on one thread;
// returns bytes of text a second.
double tokenizer_throughput(const Tokenizer& tokenizer, std::string_view text, double seconds);

}  // namespace shellgame
