#include "shellgame/train/tune_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"

namespace shellgame {
namespace {

SweepJson draw_json(const TuneDraw& draw) {
  SweepJson json = SweepJson::object();
  for (const auto& [name, choice] : draw.names) json[name] = choice;
  return json;
}

SweepJson trial_json(const TuneTrial& trial) {
  SweepJson json = {{"arm", trial.arm}, {"trial", trial.trial}, {"draw", draw_json(trial.draw)}};
  if (!trial.score) {
    json["score"] = nullptr;
    json["failure"] = trial.failure;
    return json;
  }
  const SweepRow& row = trial.row;
  json["seed"] = row.seed;
  json["score"] = *trial.score;
  json["cut"] = trial.cut;
  json["parameters"] = row.parameters;
  json["tokens"] = row.tokens;
  json["steps"] = row.steps;
  json["seconds"] = row.seconds;
  json["processor_seconds"] = row.processor_seconds;
  json["directory"] = row.directory;
  json["environments"] = row.environments;
  SweepJson cells = SweepJson::array();
  for (SweepJson cell : row.cells) {
    cell.erase("positions");
    cells.push_back(cell);
  }
  json["cells"] = cells;
  return json;
}

SweepJson space_json(const TuneSpace& space) {
  SweepJson json = SweepJson::object();
  for (const TuneDimension& dimension : space.dimensions) {
    if (dimension.choices.empty()) {
      json[dimension.name] = {{"from", dimension.from},
                              {"to", dimension.to},
                              {"scale", dimension.log ? "log" : "linear"}};
      continue;
    }
    for (const auto& choice : dimension.choices)
      json[dimension.name].push_back({{"name", choice.name}, {"set", choice.settings}});
  }
  return json;
}

std::string draw_text(const TuneDraw& draw) {
  std::vector<std::string> parts;
  for (const auto& [name, choice] : draw.names) {
    const std::size_t dot = name.rfind('.');
    parts.push_back(
        fmt::format("{} {}", dot == std::string::npos ? name : name.substr(dot + 1), choice));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::vector<const TuneTrial*> TuneResults::best() const {
  std::vector<const TuneTrial*> list;
  for (const TuneTrial& trial : all) {
    if (!trial.score) continue;
    if (list.empty() || list.back()->arm != trial.arm) {
      list.push_back(&trial);
      continue;
    }
    const double now = *trial.score, before = *list.back()->score;
    if (space.select == "regret" ? now < before : now > before) list.back() = &trial;
  }
  return list;
}

std::string tune_command(const TuneOptions& options) {
  const auto quoted = [](const std::string& word) {
    return word.find_first_of(" []*{}$'\"") == std::string::npos ? word : fmt::format("'{}'", word);
  };
  std::string text =
      fmt::format("shellgame tune {} --trials {}", quoted(options.experiment), options.trials);
  if (options.budget > 0) text += fmt::format(" --budget {}", options.budget);
  for (const std::string& arm : options.arms) text += " --arms " + quoted(arm);
  for (const std::string& plugin : options.plugins) text += " --plugin " + quoted(plugin);
  return text + " --run DIR";
}

SweepJson tune_json(const TuneResults& results) {
  SweepJson trials = SweepJson::array(), best = SweepJson::array();
  for (const TuneTrial& trial : results.all) trials.push_back(trial_json(trial));
  for (const TuneTrial* trial : results.best())
    best.push_back({{"arm", trial->arm},
                    {"trial", trial->trial},
                    {"score", *trial->score},
                    {"draw", draw_json(trial->draw)},
                    {"settings", trial->draw.settings}});
  return {{"command", results.command},
          {"experiment", results.experiment},
          {"select", results.space.select},
          {"share", results.space.share},
          {"seed", results.space.seed},
          {"count", results.space.count},
          {"trials_of_an_arm", results.trials},
          {"budget", results.budget > 0 ? SweepJson(results.budget) : SweepJson()},
          {"space", space_json(results.space)},
          {"environments", results.environments},
          {"differences", results.differences},
          {"best", best},
          {"trials", trials}};
}

std::string tune_text(const TuneResults& results) {
  const std::vector<const TuneTrial*> best = results.best();
  std::string text, arm = "\n";
  for (const TuneTrial& trial : results.all) {
    if (trial.arm != arm) text += fmt::format("{}\n", trial.arm.empty() ? "trials" : trial.arm);
    arm = trial.arm;
    const bool chosen = std::ranges::find(best, &trial) != best.end();
    const std::string what = draw_text(trial.draw);
    if (!trial.score) {
      text += fmt::format("  {:>3}  failed: {}   {}\n", trial.trial, trial.failure, what);
      continue;
    }
    text += fmt::format("  {:>3}  {} {:.4f}  {:>5.0f} CPU s{}   {}{}\n", trial.trial,
                        results.space.select, *trial.score, trial.row.processor_seconds,
                        trial.cut ? ", cut" : "", what, chosen ? "  <" : "");
  }
  return text;
}

TunedArms read_tuned_arms(const std::string& file) {
  const nlohmann::json json = parse_json(read_file(file), file);
  const auto wrong = [&]() -> InputError {
    return {file, "must be a tune.json, as 'shellgame tune' writes it"};
  };
  if (!json.is_object() || !json.contains("best") || !json["best"].is_array() ||
      !json.contains("seed") || !json["seed"].is_number_unsigned() ||
      !json.contains("trials_of_an_arm") || !json["trials_of_an_arm"].is_number_unsigned() ||
      json["trials_of_an_arm"] > 10'000)
    throw wrong();
  TunedArms tuned;
  for (const nlohmann::json& best : json["best"]) {
    const bool whole =
        best.is_object() && best.contains("arm") && best["arm"].is_string() &&
        best.contains("settings") && best["settings"].is_array() &&
        std::ranges::all_of(best["settings"], [](const nlohmann::json& one) {
          return one.is_string() && one.get<std::string>().find('=') != std::string::npos;
        });
    if (!whole) throw wrong();
    tuned.settings[best["arm"].get<std::string>()] =
        best["settings"].get<std::vector<std::string>>();
  }
  for (std::uint64_t i = 0; i < json["trials_of_an_arm"].get<std::uint64_t>(); ++i)
    tuned.seeds.push_back(json["seed"].get<std::uint64_t>() + i);
  return tuned;
}

}  // namespace shellgame
