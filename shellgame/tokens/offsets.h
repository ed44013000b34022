// Offsets into a text are 32 bits wide; a text that does not fit is refused before any work.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "shellgame/text/error.h"

namespace shellgame {

inline void require_offsets_fit(std::string_view text) {
  if (text.size() >= std::numeric_limits<std::uint32_t>::max())
    fail("a text must be shorter than 4 GiB to be encoded at once, but this one has {} bytes",
         text.size());
}

}  // namespace shellgame
