// Settings declared once, for reading and for writing: a struct lists its keys by calling
// keys("name", member, ...) on whatever it is given, a KeyReader or a KeyWriter. Keys may be
// written with '-' or '_'.
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "shellgame/text/error.h"
#include "shellgame/text/nearest_name.h"
#include "shellgame/text/number.h"

namespace shellgame {

using Words = std::vector<std::string>;

class KeyReader {
 public:
  using Json = nlohmann::json;
  // `where` is the path of the table in its file: "stages.0".
  KeyReader(const Json& table, std::string file, std::string where)
      : file_(std::move(file)), where_(std::move(where)) {
    if (!table.is_object()) refuse_value(where_, "a table", table);
    for (const auto& [key, value] : table.items()) {
      std::string name = key;
      std::ranges::replace(name, '_', '-');
      if (!table_.emplace(name, value).second) {
        throw InputError(file_, fmt::format("key '{}' must be given once", path(name)));
      }
    }
  }

  // The value of a key, taken; null if it is missing.
  Json take(const std::string& name) {
    known_.push_back(name);
    const auto found = table_.find(name);
    return found == table_.end() ? Json() : found->second;
  }

  // Numbers have bounds wherever they are declared.
  template <class Number>
  requires(std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>) void operator()(
      const std::string& name, Number& value, const NumberBounds& bounds) {
    if (const Json given = take(name); !given.is_null())
      value = number<Number>(name, given, bounds);
  }
  void operator()(const std::string& name, std::optional<double>& value,
                  const NumberBounds& bounds) {
    if (const Json given = take(name); !given.is_null())
      value = number<double>(name, given, bounds);
  }
  void operator()(const std::string& name, bool& value) {
    const Json given = take(name);
    if (given.is_null()) return;
    if (!given.is_boolean()) refuse_value(path(name), "true or false", given);
    value = given.get<bool>();
  }
  void operator()(const std::string& name, std::string& value, const Words& words = {}) {
    const Json given = take(name);
    if (given.is_null()) return;
    value = word(name, given, words);
  }
  void operator()(const std::string& name, std::optional<std::string>& value,
                  const Words& words = {}) {
    const Json given = take(name);
    if (!given.is_null()) value = word(name, given, words);
  }
  // A number or a list of numbers.
  void operator()(const std::string& name, std::vector<std::uint64_t>& value,
                  const NumberBounds& bounds) {
    const Json given = take(name);
    if (given.is_null()) return;
    value.clear();
    for (const Json& item : given.is_array() ? given : Json::array({given}))
      value.push_back(number<std::uint64_t>(name, item, bounds));
    if (value.empty()) refuse_value(path(name), "a number or a list of numbers", given);
  }

  // Refuses keys that nobody asked for.
  void finish() const {
    for (const auto& [name, value] : table_) {
      if (std::ranges::find(known_, name) != known_.end()) continue;
      const std::string near = nearest_name(name, known_);
      throw InputError(file_, fmt::format("there is no key '{}'{}", path(name),
                                          near.empty() ? "" : "; did you mean '" + near + "'?"));
    }
  }

  std::string path(const std::string& name) const {
    return where_.empty() ? name : where_ + "." + name;
  }
  [[noreturn]] void refuse_value(const std::string& key, const std::string& must,
                                 const Json& given) const {
    throw InputError(file_, fmt::format("key '{}' must be {}, not {}", key, must, text_of(given)));
  }

 private:
  template <class Number>
  Number number(const std::string& name, const Json& given, const NumberBounds& bounds) const {
    const std::string text = text_of(given);
    if (!bounds.fit<Number>() || !bounds.accepts(text))
      refuse_value(path(name), bounds.in_words(), given);
    return bounds.parse<Number>(name, text);
  }
  // JSON has no word for numbers that are not finite.
  static std::string text_of(const Json& given) {
    const bool endless = given.is_number() && !std::isfinite(given.get<double>());
    return endless ? fmt::format("{}", given.get<double>()) : given.dump();
  }
  std::string word(const std::string& name, const Json& given, const Words& words) const {
    const bool text = given.is_string();
    if (words.empty() && !text) refuse_value(path(name), "text", given);
    if (!words.empty() &&
        (!text || std::ranges::find(words, given.get<std::string>()) == words.end()))
      refuse_value(path(name), fmt::format("one of {}", fmt::join(words, ", ")), given);
    return given.get<std::string>();
  }
  std::string file_, where_;
  std::map<std::string, Json> table_;
  std::vector<std::string> known_;
};

// Lists the numbers among the keys of a table, by their paths.
class NumberLister {
 public:
  NumberLister(std::vector<DeclaredNumber>& list, std::string where)
      : list_(list), where_(std::move(where)) {}

  template <class Value>
  void operator()(const std::string& name, const Value&, const NumberBounds& bounds) {
    list_.push_back({where_.empty() ? name : where_ + "." + name, bounds});
  }
  template <class Value>
  void operator()(const std::string&, const Value&, const Words&) {}
  template <class Value>
  void operator()(const std::string&, const Value&) {
    static_assert(std::is_same_v<Value, std::string> || std::is_same_v<Value, bool>,
                  "a number must be declared with its bounds");
  }

 private:
  std::vector<DeclaredNumber>& list_;
  std::string where_;
};

class KeyWriter {
 public:
  using Json = nlohmann::json;
  explicit KeyWriter(Json& table) : table_(table) {}

  template <class Value, class... Limits>
  void operator()(const std::string& name, const Value& value, const Limits&...) {
    table_[name] = value;
  }
  template <class Value, class... Limits>
  void operator()(const std::string& name, const std::optional<Value>& value, const Limits&...) {
    if (value) table_[name] = *value;
  }
  template <class... Limits>
  void operator()(const std::string& name, const std::vector<std::uint64_t>& value,
                  const Limits&...) {
    if (!value.empty()) table_[name] = value;
  }

 private:
  Json& table_;
};

}  // namespace shellgame
