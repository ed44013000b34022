#include "shellgame/programs/names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr std::size_t kLetters = 26;

// Python's keywords, and what the trace language itself calls or binds.
constexpr std::array kReserved = {
    "False", "None",     "True",   "and",     "as",    "assert", "async",  "await",    "break",
    "class", "continue", "def",    "del",     "elif",  "else",   "except", "finally",  "for",
    "from",  "global",   "if",     "import",  "in",    "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise",  "return",  "try",   "while",  "with",   "yield",    "print",
    "float", "random",   "sample", "environ", "fetch", "start",  "draw"};

// Numbers come before strings, by size; strings by their bytes.
bool canonical_less(const Value& a, const Value& b) {
  if (a.is_string != b.is_string) return b.is_string;
  if (a.is_string) return a.text < b.text;
  const bool a_negative = a.text[0] == '-', b_negative = b.text[0] == '-';
  if (a_negative != b_negative) return a_negative;
  if (a.text.size() != b.text.size()) return (a.text.size() < b.text.size()) != a_negative;
  return a_negative ? b.text < a.text : a.text < b.text;
}

}  // namespace

std::string scheme_variable(std::size_t i) {
  if (i < kLetters) return std::string(1, static_cast<char>('a' + i));
  return "v" + std::to_string(i - kLetters + 1);
}

std::optional<std::size_t> scheme_index(std::string_view name) {
  if (name.size() == 1 && name[0] >= 'a' && name[0] <= 'z') {
    return static_cast<std::size_t>(name[0] - 'a');
  }
  if (name.size() < 2 || name.size() > 8 || name[0] != 'v' || name[1] == '0') return std::nullopt;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return kLetters + number - 1;
}

bool is_variable_name(std::string_view name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  for (char c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  }
  if (name.starts_with("work")) return false;
  return std::find(kReserved.begin(), kReserved.end(), name) == kReserved.end();
}

bool is_value_string(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

Names Names::standard(std::size_t n) {
  std::vector<std::string> variables;
  std::vector<Value> values;
  for (std::size_t i = 0; i < n; ++i) {
    variables.push_back(scheme_variable(i));
    values.push_back({std::to_string(i + 1), false});
  }
  return Names(std::move(variables), std::move(values));
}

Names Names::with_strings(const std::vector<std::string>& strings) {
  std::vector<std::string> variables;
  std::vector<Value> values;
  for (const std::string& text : strings) {
    if (!is_value_string(text)) {
      wrong_use("a value must be of a-z, 0-9, '_' and '-', not '{}'", text);
    }
    variables.push_back(scheme_variable(values.size()));
    values.push_back({text, true});
  }
  return Names(std::move(variables), std::move(values));
}

Names::Names(std::vector<std::string> variables, std::vector<Value> values)
    : variables_(std::move(variables)), values_(std::move(values)) {
  if (variables_.empty() || variables_.size() > kMostVariables) {
    wrong_use("a program must have 1 to {} variables, not {}", kMostVariables, variables_.size());
  }
  if (variables_.size() != values_.size()) {
    wrong_use("each variable must hold a value of its own: {} variables, {} values",
              variables_.size(), values_.size());
  }
  const bool of_scheme =
      std::all_of(variables_.begin(), variables_.end(),
                  [](const std::string& name) { return scheme_index(name).has_value(); });
  if (of_scheme) {
    std::sort(variables_.begin(), variables_.end(), [](const std::string& a, const std::string& b) {
      return *scheme_index(a) < *scheme_index(b);
    });
  }
  std::sort(values_.begin(), values_.end(), canonical_less);
  std::vector<std::string> seen = variables_;
  std::sort(seen.begin(), seen.end());
  if (auto twice = std::adjacent_find(seen.begin(), seen.end()); twice != seen.end()) {
    wrong_use("a variable must be named once, but '{}' is there twice", *twice);
  }
  seen.clear();
  for (const Value& value : values_) seen.push_back(value.text);
  std::sort(seen.begin(), seen.end());
  if (auto twice = std::adjacent_find(seen.begin(), seen.end()); twice != seen.end()) {
    wrong_use("values must differ in print, but '{}' is there twice", *twice);
  }
}

std::optional<VariableId> Names::find_variable(std::string_view name) const {
  // The scheme's names stand at their own index in a standard program: no search.
  if (const auto i = scheme_index(name); i && *i < variables_.size() && variables_[*i] == name) {
    return static_cast<VariableId>(*i);
  }
  const auto found = std::find(variables_.begin(), variables_.end(), name);
  if (found == variables_.end()) return std::nullopt;
  return static_cast<VariableId>(found - variables_.begin());
}

std::optional<ValueId> Names::find_value(const Value& value) const {
  const auto found = std::lower_bound(values_.begin(), values_.end(), value, canonical_less);
  if (found == values_.end() || !(*found == value)) return std::nullopt;
  return static_cast<ValueId>(found - values_.begin());
}

}  // namespace shellgame
