#include "shellgame/report/table_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

const Json* step_into(const Json& from, const std::string& field) {
  if (const auto found = from.find(field); from.is_object() && found != from.end()) return &*found;
  for (std::size_t dot = field.find('.'); dot != std::string::npos;
       dot = field.find('.', dot + 1)) {
    const auto found = from.is_object() ? from.find(field.substr(0, dot)) : from.end();
    if (found == from.end()) continue;
    if (const Json* value = step_into(*found, field.substr(dot + 1))) return value;
  }
  std::size_t place = 0;
  const std::size_t end = std::min(field.find('.'), field.size());
  const auto [last, error] = std::from_chars(field.data(), field.data() + end, place);
  if (!from.is_array() || error != std::errc() || last != field.data() + end ||
      place >= from.size())
    return nullptr;
  return end == field.size() ? &from[place] : step_into(from[place], field.substr(end + 1));
}

// A field of CSV as a number if it is one.
Json csv_value(const std::string& text) {
  double number = 0;
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || last != text.data() + text.size()) return text;
  if (text.find_first_not_of("-0123456789") == std::string::npos && text.size() < 18) {
    if (text.front() == '-') return std::stoll(text);
    return std::stoull(text);  // as a reader of JSON has it
  }
  return number;
}

std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"')
        fields.back() += line[++i];
      else
        quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else if (line[i] != '\r') {
      fields.back() += line[i];
    }
  }
  return fields;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

Json csv_json(const std::string& text, const std::string& path) {
  Json list = Json::array();
  std::vector<std::string> header;
  for (const std::string& line : lines_of(text)) {
    const std::vector<std::string> fields = csv_fields(line);
    if (header.empty()) {
      header = fields;
      continue;
    }
    if (fields.size() != header.size())
      throw InputError(path, fmt::format("a row must have {} fields as the header has, not {}",
                                         header.size(), fields.size()));
    Json row;
    for (std::size_t i = 0; i < fields.size(); ++i) row[header[i]] = csv_value(fields[i]);
    list.push_back(row);
  }
  return list;
}

Json read_source(const std::string& path) {
  const std::string text = read_file(path);
  if (path.ends_with(".csv")) return csv_json(text, path);
  if (!path.ends_with(".jsonl")) return parse_ordered_json(text, path);
  Json list = Json::array();
  std::size_t number = 0;
  for (const std::string& line : lines_of(text))
    list.push_back(parse_ordered_json(line, path, ++number));
  return list;
}

// A setting "key=value" as a field; numbers and truth values as such.
void add_setting(Json& part, const std::string& setting) {
  const std::size_t equals = std::min(setting.find('='), setting.size());
  const std::string value = setting.substr(std::min(equals + 1, setting.size()));
  part[setting.substr(0, equals)] = value == "true"    ? Json(true)
                                    : value == "false" ? Json(false)
                                                       : csv_value(value);
}

Json nth(const Json& entry, const char* key, std::size_t i) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_array() && i < found->size() ? (*found)[i] : Json();
}

// What an entry of a sweep says of its i-th run.
Json run_part(const Json& all, const Json& entry, std::size_t i) {
  Json run = {{"seed", nth(entry, "seeds", i)}, {"parameters", entry.value("parameters", Json())}};
  for (const char* key :
       {"seconds", "processor_seconds", "tokens", "steps", "train_accuracy", "started", "from"})
    run[key] = nth(entry, key, i);
  Json environment = all.value("environment", Json());  // of version 0.1.0: the first run's
  const Json places = nth(entry, "environments", i);
  if (places.is_array() && !places.empty() && places.back().is_number_unsigned())
    environment = nth(all, "environments", places.back().get<std::size_t>());
  if (environment.is_object()) {
    for (const auto& [key, value] : environment.items()) {
      if (!run.contains(key)) run[key] = value;
    }
  }
  return run;
}

Json cell_part(const Json& cell, std::size_t i) {
  Json part;
  for (const auto& [key, value] : cell.items())
    part[key == "name" ? "cell" : key] = value.is_array() ? nth(cell, key.c_str(), i) : value;
  return part;
}

std::vector<TableRecord> sweep_records(const Json& all, const Json& source) {
  std::vector<TableRecord> records;
  for (const Json& entry : all["runs"]) {
    Json settings = source;
    for (const Json& setting : entry.value("settings", Json::array())) {
      if (setting.is_string()) add_setting(settings, setting.get<std::string>());
    }
    const auto first = std::make_shared<const Json>(settings);
    const Json cells = entry.value("cells", Json::array());
    for (std::size_t i = 0; i < entry.value("seeds", Json::array()).size(); ++i) {
      const auto run = std::make_shared<const Json>(run_part(all, entry, i));
      for (const Json& cell : cells)
        records.push_back({{first, run, std::make_shared<const Json>(cell_part(cell, i))}});
      if (cells.empty()) records.push_back({{first, run}});
    }
  }
  return records;
}

bool is_sweep(const Json& json) {
  const auto runs = json.is_object() ? json.find("runs") : json.end();
  return runs != json.end() && runs->is_array() &&
         std::ranges::all_of(*runs, [](const Json& entry) {
           return entry.is_object() && entry.contains("settings") && entry.contains("cells");
         });
}

}  // namespace

std::pair<const Json*, TablePart> TableRecord::find(const std::string& field) const {
  for (const TablePart& part : parts) {
    if (const Json* value = step_into(*part, field)) return {value, part};
  }
  return {nullptr, nullptr};
}

std::vector<TableRecord> read_table_records(const std::string& path, const std::string& at) {
  const Json all = read_source(path);
  const Json source = {{"source", path.substr(path.rfind('/') + 1)}};
  if (at.empty() && is_sweep(all)) return sweep_records(all, source);
  const Json* place = at.empty() ? &all : step_into(all, at);
  if (place == nullptr)
    throw InputError(path, fmt::format("a table's 'at' must name a place in it, not '{}'", at));
  std::vector<TableRecord> records;
  const auto first = std::make_shared<const Json>(source);
  for (const Json& one : place->is_array() ? *place : Json::array({*place}))
    records.push_back({{first, std::make_shared<const Json>(one)}});
  return records;
}

}  // namespace shellgame
