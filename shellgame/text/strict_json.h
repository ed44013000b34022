// JSON from strangers, read without a tree in memory: every value is shown once to a visitor with
// its path, and the visitor refuses what does not belong there. Refused here: wrong syntax, text
// that is not UTF-8, a key twice in one object, nesting deeper than the caller allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shellgame {

// Keys from the root; an element of an array has kElement at its place.
using JsonPath = std::vector<std::string>;
inline constexpr std::string_view kElement = "[]";

class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  virtual void object(const JsonPath& path) = 0;      // it begins
  virtual void end_object(const JsonPath& path) = 0;  // all its keys were shown
  virtual void array(const JsonPath& path) = 0;
  virtual void text(const JsonPath& path, const std::string& value) = 0;
  virtual void whole(const JsonPath& path, std::uint64_t value) = 0;  // without sign or fraction
  virtual void other(const JsonPath& path) = 0;  // other numbers, true, false, null
};

// Throws InputError; `what` names the JSON ("the header").
void walk_json(std::string_view json, const std::string& file, std::string_view what,
               std::size_t max_depth, JsonVisitor& visitor);

// A name for a message: at most about 100 bytes, without control characters.
std::string shown(std::string_view name);

// As JSON writes a text, in its quotes; the text must be UTF-8.
std::string json_text(const std::string& text);

}  // namespace shellgame
