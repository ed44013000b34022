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
#include <vector>

#include "shellgame/system/error.h"
#include "shellgame/tasks/task_keys.h"

namespace shellgame {

// Bounds of a number, both included.
struct Between {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};
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

  void operator()(const std::string& name, double& value, Between bounds = {}) {
    if (const Json given = take(name); !given.is_null()) value = number(name, given, bounds);
  }
  void operator()(const std::string& name, std::optional<double>& value, Between bounds = {}) {
    if (const Json given = take(name); !given.is_null()) value = number(name, given, bounds);
  }
  template <class Whole>
  requires(std::is_integral_v<Whole> && !std::is_same_v<Whole, bool>) void operator()(
      const std::string& name, Whole& value, Between bounds = {.least = 0}) {
    if (const Json given = take(name); !given.is_null())
      value = static_cast<Whole>(whole(name, given, bounds));
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
                  Between bounds = {.least = 0}) {
    const Json given = take(name);
    if (given.is_null()) return;
    value.clear();
    for (const Json& item : given.is_array() ? given : Json::array({given}))
      value.push_back(static_cast<std::uint64_t>(whole(name, item, bounds)));
    if (value.empty()) refuse_value(path(name), "a number or a list of numbers", given);
  }

  // Refuses keys that nobody asked for.
  void finish() const {
    for (const auto& [name, value] : table_) {
      if (std::ranges::find(known_, name) != known_.end()) continue;
      const std::string near = nearest_name(name, known_);
      throw InputError(file_, fmt::format("there is no key '{}'{}", path(name),
                                          near.empty() ? "" : "; is '" + near + "' meant?"));
    }
  }

  std::string path(const std::string& name) const {
    return where_.empty() ? name : where_ + "." + name;
  }
  [[noreturn]] void refuse_value(const std::string& key, const std::string& must,
                                 const Json& given) const {
    // JSON has no word for numbers that are not finite.
    const bool endless = given.is_number() && !std::isfinite(given.get<double>());
    throw InputError(file_,
                     fmt::format("key '{}' must be {}, not {}", key, must,
                                 endless ? fmt::format("{}", given.get<double>()) : given.dump()));
  }

 private:
  double number(const std::string& name, const Json& given, Between bounds) const {
    if (!given.is_number() || !std::isfinite(given.get<double>()) ||
        !(given.get<double>() >= bounds.least) || !(given.get<double>() <= bounds.most)) {
      refuse_value(path(name), "a number" + limits(bounds), given);
    }
    return given.get<double>();
  }
  std::int64_t whole(const std::string& name, const Json& given, Between bounds) const {
    if (!given.is_number_integer() || !(given.get<double>() >= bounds.least) ||
        !(given.get<double>() <= bounds.most)) {
      refuse_value(path(name), "a whole number" + limits(bounds), given);
    }
    return given.get<std::int64_t>();
  }
  std::string word(const std::string& name, const Json& given, const Words& words) const {
    const bool text = given.is_string();
    if (words.empty() && !text) refuse_value(path(name), "text", given);
    if (!words.empty() &&
        (!text || std::ranges::find(words, given.get<std::string>()) == words.end()))
      refuse_value(path(name), fmt::format("one of {}", fmt::join(words, ", ")), given);
    return given.get<std::string>();
  }
  static std::string limits(Between bounds) {
    if (std::isfinite(bounds.least) && std::isfinite(bounds.most))
      return fmt::format(" from {} to {}", bounds.least, bounds.most);
    if (std::isfinite(bounds.least)) return fmt::format(" of at least {}", bounds.least);
    return "";
  }

  std::string file_, where_;
  std::map<std::string, Json> table_;
  std::vector<std::string> known_;
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
