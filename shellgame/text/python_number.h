// Numbers in the language of the traces.
#pragma once

#include <string>

namespace shellgame {

// A number as Python's repr writes it: the shortest text that reads back as the same double.
std::string python_number(double number);

}  // namespace shellgame
