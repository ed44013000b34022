#include "shellgame/models/options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "shellgame/text/error.h"

namespace shellgame {

Options::Options(Json values, std::string where)
    : values_(std::move(values)), where_(std::move(where)) {
  if (!values_.is_object()) refuse("the configuration must be a JSON object");
}

void Options::refuse(const std::string& sentence) const { throw InputError(where_, sentence); }

bool Options::has(const std::string& key) const {
  const auto found = values_.find(key);
  return found != values_.end() && !found->is_null();
}

const Options::Json& Options::at(const std::string& key) const {
  if (!has(key)) refuse(fmt::format("the key '{}' must be given", key));
  return values_.at(key);
}

std::int64_t Options::integer(const std::string& key) const {
  const Json& value = at(key);
  // From 2^63 on the conversion would wrap.
  const bool wraps = value.is_number_unsigned() && value.get<std::uint64_t>() >> 63 != 0;
  if (value.is_number_integer() && !wraps) return value.get<std::int64_t>();
  // Other tools write whole numbers as 2.0.
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::abs(number) < 1e15 && number == std::floor(number)) {
      return static_cast<std::int64_t>(number);
    }
  }
  refuse(fmt::format("'{}' must be a whole number, not {}", key, value.dump()));
}

std::int64_t Options::size(const std::string& key) const {
  const std::int64_t value = integer(key);
  if (value < 1) refuse(fmt::format("'{}' must be at least 1, not {}", key, value));
  if (value > (std::int64_t{1} << 31)) refuse(fmt::format("'{}' is too large: {}", key, value));
  return value;
}

double Options::number(const std::string& key) const {
  const Json& value = at(key);
  if (value.is_number() && std::isfinite(value.get<double>())) return value.get<double>();
  if (value.is_object() && value.contains("__float__")) {
    const Json& name = value.at("__float__");
    if (name == "Infinity") return std::numeric_limits<double>::infinity();
    if (name == "-Infinity") return -std::numeric_limits<double>::infinity();
  }
  refuse(fmt::format("'{}' must be a number, not {}", key, value.dump()));
}

bool Options::flag(const std::string& key) const {
  const Json& value = at(key);
  if (!value.is_boolean())
    refuse(fmt::format("'{}' must be true or false, not {}", key, value.dump()));
  return value.get<bool>();
}

std::string Options::word(const std::string& key) const {
  const Json& value = at(key);
  if (!value.is_string()) refuse(fmt::format("'{}' must be a word, not {}", key, value.dump()));
  return value.get<std::string>();
}

std::string Options::word(const std::string& key, const std::vector<std::string>& words) const {
  std::string value = word(key);
  if (std::ranges::find(words, value) == words.end()) {
    refuse(fmt::format("'{}' must be one of {}, not '{}'", key, fmt::join(words, ", "), value));
  }
  return value;
}

std::vector<std::int64_t> Options::integers(const std::string& key) const {
  const Json& list = at(key);
  if (!list.is_array())
    refuse(fmt::format("'{}' must be a list of whole numbers, not {}", key, list.dump()));
  std::vector<std::int64_t> values;
  for (const Json& value : list) {
    if (!value.is_number_integer())
      refuse(fmt::format("'{}' must hold whole numbers, not {}", key, value.dump()));
    values.push_back(value.get<std::int64_t>());
  }
  return values;
}

std::int64_t Options::size_or(const std::string& key, std::int64_t fallback) const {
  return has(key) ? size(key) : fallback;
}

double Options::number_or(const std::string& key, double fallback) const {
  return has(key) ? number(key) : fallback;
}

bool Options::flag_or(const std::string& key, bool fallback) const {
  return has(key) ? flag(key) : fallback;
}

std::string Options::word_or(const std::string& key, const std::string& fallback) const {
  return has(key) ? word(key) : fallback;
}

Options Options::with(const Json& changes) const {
  Options changed = *this;
  changed.values_.update(changes);
  return changed;
}

}  // namespace shellgame
