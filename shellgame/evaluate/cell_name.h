// What tells an evaluated cell from others, as evaluation.json and sweep.json have it: its axes,
// which are keys of the cell, and how far its model was trained along one of them. Any kind of data
// has axes of its own.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "shellgame/episodes/task_record.h"

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

// {"axis", "segment", "longest"}, as the cell's "trained" is; its longest is 0 for anything else.
template <class Json>
TaskRecord trained_of(const Json& trained) {
  const auto number = [&](const char* key) {
    const auto found = trained.find(key);
    const bool whole = found != trained.end() && found->is_number_integer();
    return whole ? static_cast<std::uint64_t>(
                       std::max<std::int64_t>(0, found->template get<std::int64_t>()))
                 : std::uint64_t{0};
  };
  TaskRecord record;
  if (!trained.is_object() || !trained.contains("axis") || !trained.at("axis").is_string())
    return record;
  record.axis = trained.at("axis").template get<std::string>();
  record.segment = number("segment");
  record.longest = number("longest");
  return record;
}

template <class Json>
TaskRecord cell_trained(const Json& cell) {
  const auto found = cell.find("trained");
  return found == cell.end() ? TaskRecord() : trained_of(*found);
}

// Where charts along its axis have a mark, and its name: what a gradient saw at once, and what the
// model saw in one stream.
using TrainedMarks = std::vector<std::pair<double, std::string>>;
inline void add_trained_marks(const TaskRecord& record, const std::string& along,
                              TrainedMarks& marks) {
  if (record.longest == 0 || record.axis != along) return;
  const auto add = [&](std::uint64_t at, const char* name) {
    const std::pair<double, std::string> mark(static_cast<double>(at), name);
    if (std::ranges::find(marks, mark) == marks.end()) marks.push_back(mark);
  };
  const bool streams = record.longest > record.segment;
  add(record.segment, streams ? "segment" : "trained");
  if (streams) add(record.longest, "stream");
}

}  // namespace shellgame
