// Text that others wrote (names in files, values, quoted lines), in a form that a terminal shows
// and does not obey.
#pragma once

#include <string>
#include <string_view>

namespace shellgame {

// Control characters, marks that turn the direction of writing, and bytes that are not UTF-8 are
// written out: "\x1b", "\n", "\u202e", "\xff". All other text stays as it is.
std::string printable(std::string_view text);

// The same for text of several lines: line ends and tabs stay.
std::string printable_lines(std::string_view text);

}  // namespace shellgame
