#include "shellgame/episodes/data_kind.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <mutex>

#include "shellgame/episodes/data_kinds.h"
#include "shellgame/text/nearest_name.h"
#include "shellgame/text/read_json.h"

namespace shellgame {
namespace {

struct Registry {
  std::mutex mutex;
  std::deque<DataKind> kinds;  // references stay
};

Registry& registry() {
  static Registry one;
  static const bool filled = [] {
    for (DataKind& kind : built_in_data_kinds()) one.kinds.push_back(std::move(kind));
    return true;
  }();
  static_cast<void>(filled);
  return one;
}

// Of a kind's keys, for whoever mistypes one.
std::string near_key(const DataKind& kind, const std::string& wrong) {
  std::vector<std::string> names;
  for (const DataKey& key : kind.keys) names.push_back(key.name);
  const std::string near = nearest_name(wrong, names);
  return near.empty() ? "" : "; did you mean '" + near + "'?";
}

void check_keys(const DataKind& kind, const DataSettings& settings) {
  for (const auto& [name, value] : settings) {
    if (kind.find(name) == nullptr)
      throw DataKeyError(name, fmt::format("data of the kind '{}' have no key '{}'{}", kind.name,
                                           name, near_key(kind, name)));
  }
}

// As it is written without quotes, if it is a number or several.
nlohmann::json value_json(const DataKey& key, const std::string& text) {
  if (!key.is_number) return text;
  const auto plain = [](const std::string& all) {
    return !all.empty() && all.find_first_not_of("0123456789.,+-eE") == std::string::npos;
  };
  if (!plain(text)) return text;  // "3-40" is none
  const bool list = text.find(',') != std::string::npos;
  try {
    return parse_json(list ? "[" + text + "]" : text, key.name);
  } catch (const InputError&) {
    return text;  // the kind says what is wrong with it
  }
}

}  // namespace

const DataKey* DataKind::find(std::string_view key) const {
  const auto found = std::ranges::find(keys, key, &DataKey::name);
  return found == keys.end() ? nullptr : &*found;
}

std::vector<std::string> data_kind_names() {
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  std::vector<std::string> names;
  for (const DataKind& kind : all.kinds) names.push_back(kind.name);
  return names;
}

const DataKind& find_data_kind(const std::string& name) {
  {
    Registry& all = registry();
    const std::scoped_lock lock(all.mutex);
    const auto found = std::ranges::find(all.kinds, name, &DataKind::name);
    if (found != all.kinds.end()) return *found;
  }
  const std::vector<std::string> names = data_kind_names();
  const std::string near = nearest_name(name, names);
  wrong_use("the kind of data must be one of {}, not '{}'{}", fmt::join(names, ", "), name,
            near.empty() ? "" : "; did you mean '" + near + "'?");
}

void register_data_kind(DataKind kind) {
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  if (std::ranges::find(all.kinds, kind.name, &DataKind::name) != all.kinds.end())
    wrong_use("a kind of data must have a name of its own, and there is a '{}'", kind.name);
  all.kinds.push_back(std::move(kind));
}

SharedData DataSpec::make() const {
  const DataKind& known = find_data_kind(kind);
  check_keys(known, settings);
  return known.make(settings);
}

std::string DataSpec::value(const std::string& key) const {
  const auto given = settings.find(key);
  if (given != settings.end()) return given->second;
  const DataKey* known = find_data_kind(kind).find(key);
  return known == nullptr ? "" : known->usual;
}

std::vector<std::string> split_settings(std::string_view text) {
  std::vector<std::string> settings;
  bool takes_all = false;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    if (part.empty() && !takes_all) continue;
    const std::size_t equals = part.find('=');
    if (settings.empty() || (equals != std::string_view::npos && !takes_all)) {
      settings.emplace_back(part);
      takes_all =
          equals != std::string_view::npos && part.find('=', equals + 1) != std::string_view::npos;
    } else {
      settings.back().append(",").append(part);
    }
  }
  return settings;
}

std::pair<std::string, std::string> key_and_value(const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == 0 || equals == std::string::npos)
    wrong_use("--set must be KEY=VALUE, not '{}'", setting);
  return {setting.substr(0, equals), setting.substr(equals + 1)};
}

nlohmann::json spec_json(const DataSpec& spec, bool all) {
  nlohmann::json json = {{"kind", spec.kind}};
  for (const DataKey& key : find_data_kind(spec.kind).keys) {
    const bool given = spec.settings.contains(key.name);
    if (given || (all && !key.usual.empty()))
      json[key.name] = value_json(key, spec.value(key.name));
  }
  return json;
}

std::string setting_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string joined;
  for (const nlohmann::json& item : value)
    joined += (joined.empty() ? "" : ",") + setting_text(item);
  return joined;
}

DataSpec spec_of_json(const nlohmann::json& table, const DataSpec& base) {
  DataSpec spec = base;
  if (table.contains("kind")) {
    const nlohmann::json& kind = table["kind"];
    if (!kind.is_string())
      throw DataKeyError("kind", fmt::format("kind must be a text, not {}", kind.dump()));
    if (kind.get<std::string>() != base.kind) spec = {.kind = kind.get<std::string>()};
  }
  const DataKind& known = find_data_kind(spec.kind);
  for (const auto& [key, value] : table.items()) {
    std::string name = key;
    std::ranges::replace(name, '_', '-');
    if (name == "kind") continue;
    check_keys(known, {{name, ""}});
    spec.settings[name] = setting_text(value);
  }
  return spec;
}

std::vector<DataCell> data_combinations(const DataSpec& spec, const DataAxes& axes) {
  // In the order of the kind's axes, the last one fastest.
  std::vector<DataSpec> specs = {spec};
  for (const std::string& axis : find_data_kind(spec.kind).axes) {
    const auto values = axes.find(axis);
    if (values == axes.end() || values->second.empty()) continue;
    std::vector<DataSpec> more;
    for (const DataSpec& one : specs) {
      for (const std::string& value : values->second) {
        more.push_back(one);
        more.back().settings[axis] = value;
      }
    }
    specs = std::move(more);
  }
  std::vector<DataCell> cells;
  for (DataSpec& one : specs) {
    SharedData data = one.make();
    cells.push_back({std::move(one), std::move(data)});
  }
  return cells;
}

std::vector<DataCell> data_grid(const DataSpec& spec, const DataAxes& axes,
                                std::vector<std::string>& notes) {
  std::vector<DataCell> cells;
  std::string silence;
  for (DataCell& cell : data_combinations(spec, axes)) {
    silence = cell.data->silence();
    if (silence.empty()) {
      cells.push_back(std::move(cell));
      continue;
    }
    std::vector<Coordinate> place;
    for (const std::string& axis : find_data_kind(spec.kind).axes)
      place.push_back({axis, cell.spec.value(axis)});
    notes.push_back(fmt::format("{} are left out: {}", axes_words(place), silence));
  }
  if (cells.empty()) wrong_use("nothing would be asked: {}", silence);
  return cells;
}

}  // namespace shellgame
