// Tables of a page: the first column and the head are headings for readers of any kind, wide
// tables scroll in a box of their own, a cell shows its exact value when a pointer rests on it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace shellgame {

struct PageCell {
  std::string text;        // as it is, not yet escaped
  std::string title = {};  // shown on hovering; empty: none
  std::string style = {};  // a class of page.css
};

struct PageTable {
  std::string caption;
  std::vector<std::string> head;
  std::vector<std::vector<PageCell>> rows = {};  // each as long as the head

  std::string html() const;  // "" without rows
};

// A JSON value for people, with its exact form as title.
PageCell value_cell(const nlohmann::ordered_json& value);
// The same for a number that was computed.
PageCell number_cell(double value);
// 0 to 1 as a shade from the page's background to its blue.
PageCell shade_cell(double value);

// A table from a list of objects: a row each, a column for each key that has plain values.
PageTable table_of(const std::string& caption, const nlohmann::ordered_json& rows);

// <details>: closed, or open.
std::string folded(const std::string& summary, const std::string& body, bool open = false);

}  // namespace shellgame
