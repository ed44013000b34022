// What a mistyped name was meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shellgame {

// The known name that is nearest to a mistyped one, or "" if none is near. Distance counts letters
// that are missing, added, wrong or exchanged with their neighbour.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& names);

}  // namespace shellgame
