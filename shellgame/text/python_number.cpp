#include "shellgame/text/python_number.h"

#include <fmt/format.h>

namespace shellgame {

std::string python_number(double number) {
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace shellgame
