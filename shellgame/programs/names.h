// The names of a program's variables and values. Variables are a, b, c, ..., z, v1, v2, ... unless
// a person chose others; values are whole numbers or short strings, kept in one canonical order
// (numbers by size, then strings), so that the same set of values always gets the same indices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shellgame {

using VariableId = std::uint16_t;
using ValueId = std::uint16_t;

inline constexpr std::size_t kMostVariables = 4096;

struct Value {
  std::string text;        // as print() shows it
  bool is_string = false;  // written with quotes in source
  std::string literal() const { return is_string ? "'" + text + "'" : text; }
  friend bool operator==(const Value&, const Value&) = default;
};

// The name of variable i in the project's scheme, and its inverse (nothing for other names).
std::string scheme_variable(std::size_t i);
std::optional<std::size_t> scheme_index(std::string_view name);
// A Python identifier that does not collide with a keyword or with a name that the trace language
// uses itself.
bool is_variable_name(std::string_view name);
// A string that may be a value: of a-z, 0-9, '_' and '-', so that every tokenizer and output line
// can hold it.
bool is_value_string(std::string_view text);

class Names {
 public:
  Names() = default;
  // n variables of the scheme with the values 1..n.
  static Names standard(std::size_t n);
  // n variables of the scheme with given strings, one a variable. Throws UsageError on repeated or
  // odd strings.
  static Names with_strings(const std::vector<std::string>& strings);
  // Anything that a trace may hold; sorts both into canonical order. Throws UsageError on repeated
  // names or values.
  Names(std::vector<std::string> variables, std::vector<Value> values);

  std::size_t size() const { return variables_.size(); }
  const std::string& variable(std::size_t i) const { return variables_[i]; }
  const Value& value(std::size_t i) const { return values_[i]; }
  std::optional<VariableId> find_variable(std::string_view name) const;
  std::optional<ValueId> find_value(const Value& value) const;

  friend bool operator==(const Names&, const Names&) = default;

 private:
  std::vector<std::string> variables_;
  std::vector<Value> values_;
};

}  // namespace shellgame
