// Libraries of the tool that are loaded only when a command needs them, because what they link
// takes long to start.
#pragma once

#include <string>

namespace shellgame {

// The function `entry` of `library`, which lies beside the tool or where an installation puts it.
// `hint` says how to get it. Throws Error.
void* load_library(const std::string& library, const std::string& entry, const std::string& hint);

}  // namespace shellgame
