// How fast a tokenizer encodes, for benchmarks.
#pragma once

#include <string_view>

#include "shellgame/tokens/tokenizer.h"

namespace shellgame {

// Encodes `text` again and again for at least `seconds` of processor time (after one round to warm
// up) on this thread; returns bytes of text a second of it.
double tokenizer_throughput(const Tokenizer& tokenizer, std::string_view text, double seconds);

}  // namespace shellgame
