// What an evaluated cell is called where people read it: "(64,8)", or "length 40".
#pragma once

#include <fmt/format.h>

#include <string>

namespace shellgame {

// The length of a sequence is a number, or a text where it is drawn from a range ("3-40").
template <class Json>
std::string cell_length(const Json& cell) {
  const auto found = cell.find("length");
  if (found == cell.end()) return "?";
  return found->is_string() ? found->template get<std::string>() : found->dump();
}

template <class Json>
std::string cell_name(const Json& cell) {
  if (cell.contains("commands"))
    return fmt::format("({},{})", cell["commands"].dump(), cell.value("spacing", 0));
  return "length " + cell_length(cell);
}

}  // namespace shellgame
