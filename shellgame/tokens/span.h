// A part of a text.
#pragma once

#include <cstddef>

namespace shellgame {

// The bytes from `begin` up to `end`.
struct Span {
  std::size_t begin = 0, end = 0;
  friend bool operator==(const Span&, const Span&) = default;
};

}  // namespace shellgame
