// From REPL text back to a program. Reads what render() writes, so that parse(render(p)) = p, and
// what a person would type in the same language: other spacing and quotes, several assignments or
// commands on a line, branches with their command on the next line, comments. Errors are
// file:line:column and one sentence.
#pragma once

#include <string>
#include <string_view>

#include "shellgame/programs/program.h"

namespace shellgame {

// Throws InputError. `file` is only for messages.
Program parse(std::string_view text, const std::string& file = "trace");

}  // namespace shellgame
