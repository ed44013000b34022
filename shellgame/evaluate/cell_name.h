// What tells an evaluated cell from others, as evaluation.json and sweep.json have it: its axes,
// which are keys of the cell. Any kind of data has axes of its own.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace shellgame {

// The names of the cell's axes, in order. Results of earlier versions do not list them.
template <class Json>
std::vector<std::string> cell_axes(const Json& cell) {
  std::vector<std::string> names;
  const auto listed = cell.find("axes");
  if (listed != cell.end() && listed->is_array()) {
    for (const auto& name : *listed) {
      if (name.is_string() && cell.contains(name.template get<std::string>()))
        names.push_back(name.template get<std::string>());
    }
    return names;
  }
  for (const char* name : {"commands", "spacing", "length"}) {
    if (cell.contains(name)) names.emplace_back(name);
  }
  return names;
}

template <class Json>
bool is_cell_axis(const Json& cell, const std::string& key) {
  const std::vector<std::string> names = cell_axes(cell);
  return key == "axes" || std::ranges::find(names, key) != names.end();
}

// A number, or a text where it is drawn from a range ("3-40").
template <class Json>
std::string cell_value(const Json& cell, const std::string& axis) {
  const auto found = cell.find(axis);
  if (found == cell.end()) return "?";
  return found->is_string() ? found->template get<std::string>() : found->dump();
}

// For people: "64 commands, spacing 8"; "length 40".
template <class Json>
std::string cell_words(const Json& cell) {
  std::string words;
  for (const std::string& axis : cell_axes(cell)) {
    if (!words.empty()) words += ", ";
    words += axis == "commands" ? cell_value(cell, axis) + " commands"
                                : axis + " " + cell_value(cell, axis);
  }
  return words;
}

// Short: "(64,8)"; "length 40".
template <class Json>
std::string cell_name(const Json& cell) {
  if (cell.contains("commands"))
    return fmt::format("({},{})", cell_value(cell, "commands"), cell_value(cell, "spacing"));
  return cell_words(cell);
}

}  // namespace shellgame
