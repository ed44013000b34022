#include "shellgame/train/toml_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"
#include "shellgame/text/read_toml.h"

namespace shellgame {
namespace {

using Json = nlohmann::json;

Json value_of(const toml::node& node, const std::string& file) {
  if (const auto* table = node.as_table()) {
    Json object = Json::object();
    for (const auto& [key, item] : *table) object[std::string(key.str())] = value_of(item, file);
    return object;
  }
  if (const auto* array = node.as_array()) {
    Json list = Json::array();
    for (const toml::node& item : *array) list.push_back(value_of(item, file));
    return list;
  }
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return number->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  throw InputError(
      toml_place(file, node.source()),
      "a value must be text, a number, true or false, a list or a table, not a date or time");
}

void insert(toml::table& table, const std::string& key, const Json& value);

toml::array array_of(const Json& list);

toml::table table_of(const Json& object) {
  toml::table table;
  for (const auto& [key, value] : object.items()) insert(table, key, value);
  return table;
}

toml::array array_of(const Json& list) {
  toml::array array;
  for (const Json& item : list) {
    if (item.is_object()) {
      array.push_back(table_of(item));
    } else if (item.is_array()) {
      array.push_back(array_of(item));
    } else if (item.is_string()) {
      array.push_back(item.get<std::string>());
    } else if (item.is_boolean()) {
      array.push_back(item.get<bool>());
    } else if (item.is_number_integer()) {
      array.push_back(item.get<std::int64_t>());
    } else if (item.is_number_float()) {
      array.push_back(item.get<double>());
    }
  }
  return array;
}

void insert(toml::table& table, const std::string& key, const Json& value) {
  if (value.is_object()) {
    table.insert_or_assign(key, table_of(value));
  } else if (value.is_array()) {
    table.insert_or_assign(key, array_of(value));
  } else if (value.is_string()) {
    table.insert_or_assign(key, value.get<std::string>());
  } else if (value.is_boolean()) {
    table.insert_or_assign(key, value.get<bool>());
  } else if (value.is_number_integer()) {
    table.insert_or_assign(key, value.get<std::int64_t>());
  } else if (value.is_number_float()) {
    table.insert_or_assign(key, value.get<double>());
  }
}

}  // namespace

Json toml_to_json(std::string_view text, const std::string& file) {
  return value_of(parse_toml(text, file), file);
}

std::string json_to_toml(const Json& table) {
  std::ostringstream text;
  text << table_of(table) << "\n";
  return text.str();
}

namespace {

Json parsed_value(const std::string& text) {
  try {
    return value_of(*parse_toml("value = " + text, "--set").get("value"), "--set");
  } catch (const InputError&) {
    return text;
  }
}

void set_inside(Json& place, std::string_view path, const Json& value, const std::string& change) {
  const std::size_t dot = path.find('.');
  const std::string key(path.substr(0, dot));
  if (key.empty()) wrong_use("--set must be key=value with dots between keys, not '{}'", change);
  const auto go_on = [&](Json& next) {
    if (dot == std::string_view::npos) {
      next = value;
    } else {
      if (next.is_null()) next = Json::object();
      set_inside(next, path.substr(dot + 1), value, change);
    }
  };
  if (place.is_array()) {
    if (key == "*") {
      for (Json& item : place) go_on(item);
      return;
    }
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
    if (error != std::errc() || end != key.data() + key.size() || index >= place.size()) {
      wrong_use("--set {}: a place in this list must be '*' or a number below {}, not '{}'", change,
                place.size(), key);
    }
    return go_on(place[index]);
  }
  if (!place.is_object()) wrong_use("--set {}: there is no table before '{}'", change, key);
  go_on(place[key]);
}

}  // namespace

void set_by_path(Json& table, const std::string& change) {
  const std::size_t equals = change.find('=');
  if (equals == std::string::npos) wrong_use("--set must be key=value, not '{}'", change);
  const auto keys =
      std::count(change.begin(), change.begin() + static_cast<std::ptrdiff_t>(equals), '.');
  if (static_cast<std::size_t>(keys) >= kMaxNesting)
    wrong_use("--set must have at most {} keys with dots between them, not {}", kMaxNesting,
              keys + 1);
  set_inside(table, std::string_view(change).substr(0, equals),
             parsed_value(change.substr(equals + 1)), change);
}

}  // namespace shellgame
