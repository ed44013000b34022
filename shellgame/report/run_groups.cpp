#include "shellgame/report/run_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>

namespace shellgame {
namespace {

std::string setting_of(const RunRecord& run, const std::string& key) {
  const auto found = std::ranges::find(run.settings, key, &Setting::key);
  return found == run.settings.end() ? "" : found->value;
}

// All that two runs of a group have in common.
std::string configuration_of(const RunRecord& run) {
  std::string text;
  for (const Setting& setting : run.settings) {
    if (setting.key == "seed") continue;
    text +=
        fmt::format("{}={}\n", setting.key,
                    setting.key == "from" ? without_seed(setting.value, run.seed) : setting.value);
  }
  return text;
}

bool all_differ(const std::vector<RunGroup>& groups, const std::string& key) {
  std::set<std::string> values;
  for (const RunGroup& group : groups) values.insert(setting_of(*group.runs[0], key));
  return values.size() == groups.size();
}

// The key that names the groups best: the arm, the experiment's name, else any that tells them
// all apart; "" if none does.
std::string naming_key(const std::vector<RunGroup>& groups, const std::set<std::string>& keys) {
  for (const char* key : {"arm", "name", "task.group"}) {
    if (all_differ(groups, key)) return key;
  }
  for (const std::string& key : keys) {
    if (key != "seed" && all_differ(groups, key)) return key;
  }
  return "";
}

}  // namespace

std::string without_seed(std::string path, const std::string& seed) {
  const std::string part = "seed-" + seed;
  for (std::size_t at = path.find(part); at != std::string::npos; at = path.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    const bool whole =
        end == path.size() || std::isdigit(static_cast<unsigned char>(path[end])) == 0;
    if (whole) path.replace(at, part.size(), "seed-{seed}");
  }
  return path;
}

std::set<std::string> differing_keys(const std::vector<RunRecord>& runs) {
  std::map<std::string, std::map<std::string, std::size_t>> values;
  for (const RunRecord& run : runs) {
    for (const Setting& setting : run.settings) ++values[setting.key][setting.value];
  }
  std::set<std::string> keys;
  for (const auto& [key, counts] : values) {
    if (counts.size() > 1 || counts.begin()->second != runs.size()) keys.insert(key);
  }
  return keys;
}

std::vector<RunGroup> groups_of(const std::vector<RunRecord>& runs) {
  std::vector<RunGroup> groups;
  std::map<std::string, std::size_t> places;
  for (const RunRecord& run : runs) {
    const auto [place, fresh] = places.emplace(configuration_of(run), groups.size());
    if (fresh) groups.emplace_back();
    groups[place->second].runs.push_back(&run);
  }
  if (groups.size() == 1) {
    const RunRecord& run = *groups[0].runs[0];
    groups[0].alone = true;
    groups[0].name = !run.arm.empty() ? run.arm : !run.name.empty() ? run.name : run.directory;
    return groups;
  }
  const std::string key = naming_key(groups, differing_keys(runs));
  for (RunGroup& group : groups) {
    const RunRecord& run = *group.runs[0];
    const std::string value = setting_of(run, key);
    if (key.empty() || value.empty()) {
      group.name = run.directory;
    } else {
      group.name = key == "arm" || key == "name" || key == "task.group"
                       ? value
                       : fmt::format("{}={}", key, value);
    }
  }
  return groups;
}

std::string run_name(const RunGroup& group, const RunRecord& run) {
  if (group.runs.size() == 1) return group.name;
  const auto same = std::ranges::count(group.runs, run.seed, &RunRecord::seed);
  // The same experiment with the same seed, run twice.
  const std::string own = same > 1 ? run.directory : fmt::format("seed {}", run.seed);
  return group.alone ? own : fmt::format("{}, {}", group.name, own);
}

RunSpread run_spread(const std::vector<double>& values) {
  RunSpread spread;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    spread.least = spread.count == 0 ? value : std::min(spread.least, value);
    spread.most = spread.count == 0 ? value : std::max(spread.most, value);
    spread.mean += value;
    ++spread.count;
  }
  if (spread.count == 0) {
    spread.mean = spread.least = spread.most = std::nan("");
    return spread;
  }
  spread.mean /= static_cast<double>(spread.count);
  for (const double value : values) {
    if (std::isfinite(value)) spread.deviation += (value - spread.mean) * (value - spread.mean);
  }
  spread.deviation =
      spread.count > 1 ? std::sqrt(spread.deviation / static_cast<double>(spread.count - 1)) : 0;
  return spread;
}

}  // namespace shellgame
