#include "shellgame/train/sweep_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include "shellgame/text/error.h"
#include "shellgame/train/experiment.h"
#include "shellgame/train/tune_results.h"

namespace shellgame {
namespace {

// "key=a,b,c" as the three settings; commas inside brackets, braces and quotes belong to a value.
std::vector<std::string> values_of(const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos) wrong_use("--set must be key=value, not '{}'", setting);
  std::vector<std::string> values;
  std::string value;
  int depth = 0;
  bool quoted = false;
  for (const char c : setting.substr(equals + 1)) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '[' || c == '{')) ++depth;
    if (!quoted && (c == ']' || c == '}')) --depth;
    if (c == ',' && depth == 0 && !quoted) {
      values.push_back(setting.substr(0, equals + 1) + value);
      value.clear();
    } else {
      value += c;
    }
  }
  values.push_back(setting.substr(0, equals + 1) + value);
  return values;
}

// A directory's name for settings: letters that every system takes.
std::string folder_name(const std::vector<std::string>& settings) {
  std::string name = fmt::format("{}", fmt::join(settings, ","));
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 &&
        std::string_view("=,.-_").find(c) == std::string_view::npos)
      c = '_';
  }
  return name;
}

// What varies, the arms first.
std::vector<std::string> varied_settings(const SweepOptions& options) {
  std::vector<std::string> all = options.settings;
  for (const std::string& setting : all) {
    const std::string key = setting.substr(0, setting.find('='));
    for (const auto& [own, option] :
         {std::pair("seed", "--seeds"), std::pair("arm", "--arms"),
          std::pair("threads", "--threads"), std::pair("from", "--from")}) {
      if (key == own)
        wrong_use("a sweep must have its {} from {}, not from --set {}", own, option, setting);
    }
  }
  const auto arms = experiment_arms(options.experiment);
  if (arms.empty() && !options.arms.empty())
    wrong_use("--arms must name arms of '{}', which has none", options.experiment);
  if (!arms.empty()) {
    const auto names = options.arms.empty() ? arms : options.arms;
    all.insert(all.begin(), fmt::format("arm=\"{}\"", fmt::join(names, "\",\"")));
  }
  return all;
}

std::vector<std::vector<std::string>> combinations_of(const std::vector<std::string>& all) {
  std::vector<std::vector<std::string>> combinations = {{}};
  for (const std::string& setting : all) {
    std::vector<std::vector<std::string>> longer;
    for (const auto& combination : combinations) {
      for (std::string value : values_of(setting)) {
        if (value.starts_with("arm=")) std::erase(value, '"');
        longer.push_back(combination);
        longer.back().push_back(value);
      }
    }
    combinations = std::move(longer);
  }
  return combinations;
}

std::string from_of(const SweepOptions& options, std::uint64_t seed) {
  std::string from = options.from;
  if (const std::size_t place = from.find("{seed}"); place != std::string::npos)
    from.replace(place, 6, std::to_string(seed));
  return from;
}

// What a search found for the arm, before what the user sets.
std::vector<std::string> with_tuned_settings(const SweepOptions& options, const TunedArms& tuned,
                                             const std::vector<std::string>& combination) {
  for (const std::uint64_t seed : options.seeds) {
    if (std::ranges::find(tuned.seeds, seed) != tuned.seeds.end())
      wrong_use(
          "--seeds must leave out those of the search's trials ('{}'), by which the settings were "
          "chosen, not have {}",
          options.tuned, seed);
  }
  std::vector<std::string> settings;
  auto own = combination.begin();
  std::string arm;
  if (own != combination.end() && own->starts_with("arm=")) {
    arm = own->substr(4);
    settings.push_back(*own++);
  }
  const auto found = tuned.settings.find(arm);
  if (found == tuned.settings.end())
    wrong_use("'{}' must have a result for {}, and has none", options.tuned,
              arm.empty() ? "an experiment without arms" : fmt::format("the arm '{}'", arm));
  settings.insert(settings.end(), found->second.begin(), found->second.end());
  settings.insert(settings.end(), own, combination.end());
  return settings;
}

void require_own_directories(const std::vector<SweepRun>& runs) {
  std::map<std::string, const SweepRun*> places;
  for (const SweepRun& run : runs) {
    const auto [found, fresh] = places.emplace(run.directory, &run);
    if (!fresh)
      wrong_use(
          "every run of a sweep must have a directory of its own, and '{}' would be that of '{}' "
          "and of '{}'",
          run.directory, fmt::join(found->second->settings, " "), fmt::join(run.settings, " "));
  }
}

}  // namespace

std::vector<SweepRun> plan_sweep(const SweepOptions& options) {
  const std::vector<std::string> all = varied_settings(options);
  const TunedArms tuned = options.tuned.empty() ? TunedArms() : read_tuned_arms(options.tuned);
  std::vector<SweepRun> runs;
  for (const auto& combination : combinations_of(all)) {
    // Settings that do not vary are left out of the names.
    std::vector<std::string> varied;
    for (std::size_t i = 0; i < combination.size(); ++i) {
      if (values_of(all[i]).size() > 1) varied.push_back(combination[i]);
    }
    const std::vector<std::string> settings =
        options.tuned.empty() ? combination : with_tuned_settings(options, tuned, combination);
    for (const std::uint64_t seed : options.seeds) {
      std::string directory = options.run;
      if (!varied.empty()) directory += "/" + folder_name(varied);
      runs.push_back({.settings = settings,
                      .seed = seed,
                      .directory = fmt::format("{}/seed-{}", directory, seed),
                      .from = from_of(options, seed)});
    }
  }
  require_own_directories(runs);
  return runs;
}

void check_sweep_run(const SweepOptions& options, const SweepRun& run, int threads) {
  std::vector<std::string> changes = run.settings;
  changes.push_back(fmt::format("seed={}", run.seed));
  Experiment given = read_experiment(options.experiment, changes);
  set_run_choices(given, threads, run.from, options.plugins);
  const std::string record = run.directory + "/experiment.toml";
  if (!std::filesystem::exists(record)) return;
  const std::string difference = experiment_difference(read_experiment(record), given);
  if (!difference.empty())
    wrong_use("'{}' must have no run, or one of the same experiment; {}", run.directory,
              difference);
}

std::string sweep_command(const SweepOptions& options) {
  const auto quoted = [](const std::string& word) {
    return word.find_first_of(" []*{}$'\"") == std::string::npos ? word : fmt::format("'{}'", word);
  };
  std::string text =
      fmt::format("shellgame sweep {} --seeds {}", quoted(options.experiment), options.seeds_text);
  for (const std::string& arm : options.arms) text += " --arms " + quoted(arm);
  for (const std::string& setting : options.settings) text += " --set " + quoted(setting);
  if (!options.tuned.empty()) text += " --tuned " + quoted(options.tuned);
  if (!options.from.empty()) text += " --from MODEL_DIR";
  for (const std::string& plugin : options.plugins) text += " --plugin " + quoted(plugin);
  return text + " --run DIR";
}

}  // namespace shellgame
