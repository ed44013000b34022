#include "shellgame/figures/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>

#include "shellgame/report/run_groups.h"
#include "shellgame/system/files.h"
#include "shellgame/tasks/task.h"
#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"

namespace shellgame {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Measured described(const Experiment& experiment) {
  Measured measured;
  measured.experiment = experiment.name;
  measured.label = model_label(experiment);
  measured.group = experiment.task.value("group");
  measured.moves = experiment.task.value("moves");
  measured.stream = trained_task(experiment).longest;
  const auto numbers = [&](const char* axis) {
    std::vector<std::uint64_t> all;
    for (const std::string& value : experiment.stages.back().axes.at(axis))
      all.push_back(longest_of(value));
    return all;
  };
  measured.spacings = numbers("spacing");
  measured.trained = {std::ranges::max(numbers("commands")), std::ranges::max(measured.spacings)};
  return measured;
}

void add_run(Measured& measured, const Json& cells) {
  for (const Json& cell : cells) {
    if (!cell.contains("commands") || !cell.contains("accuracy")) continue;
    MeasuredCell& to =
        measured
            .cells[{cell["commands"].get<std::uint64_t>(), cell["spacing"].get<std::uint64_t>()}];
    to.accuracy.push_back(cell["accuracy"].get<double>());
    to.final_accuracy.push_back(cell.value("final_accuracy", cell["accuracy"].get<double>()));
    std::vector<double> positions;
    for (const Json& position : cell.value("positions", Json::array())) {
      // Several places put together say nothing about each.
      if (position.value("first", 0) != position.value("last", 0)) positions.clear();
      if (position.value("first", 0) != position.value("last", 0)) break;
      positions.push_back(position["accuracy"].get<double>());
    }
    to.by_position.push_back(positions);
  }
}

}  // namespace

std::string model_label(const Experiment& experiment) {
  const std::string kind = experiment.model.value("model_type", std::string());
  if (kind == "transformer") return "Transformer";
  const char* range = experiment.model.value("allow_neg_eigval", false) ? "[-1,1]" : "[0,1]";
  if (kind == "delta_net") return fmt::format("DeltaNet {}", range);
  if (kind == "gated_deltaproduct" && !experiment.model.value("use_forget_gate", true))
    return fmt::format("DeltaProduct {}, {} steps", range,
                       experiment.model.value("num_householder", 1));
  return experiment.arm.empty() ? kind : experiment.arm;
}

std::vector<Measured> measured_of_sweep(const Json& all, const std::string& file,
                                        const std::string& from) {
  std::vector<Measured> found;
  for (const Json& entry : all.at("runs")) {
    // Other kinds of data than traces are not in the paper's figures.
    const Json cells = entry.value("cells", Json::array());
    if (cells.empty() || !cells[0].contains("commands")) continue;
    const Experiment experiment =
        read_experiment(file, entry.value("settings", std::vector<std::string>{}));
    Measured measured = described(experiment);
    measured.from = from;
    measured.parameters = entry.value("parameters", std::int64_t{0});
    measured.seeds = entry.value("seeds", std::vector<std::uint64_t>{});
    for (const Json& cell : entry["cells"]) {
      if (!cell.contains("commands") || !cell.contains("accuracy")) continue;
      MeasuredCell& to =
          measured
              .cells[{cell["commands"].get<std::uint64_t>(), cell["spacing"].get<std::uint64_t>()}];
      to.accuracy = cell["accuracy"].get<std::vector<double>>();
      to.final_accuracy = cell.value("final_accuracy", to.accuracy);
      to.by_position = cell.value("by_position", std::vector<std::vector<double>>{});
    }
    if (!measured.cells.empty()) found.push_back(std::move(measured));
  }
  return found;
}

std::vector<Measured> measured_of_runs(const std::string& directory) {
  if (!fs::is_directory(directory)) fail("runs must be in a directory; '{}' is not one", directory);
  std::vector<std::string> runs;
  for (const auto& entry :
       fs::recursive_directory_iterator(directory, fs::directory_options::skip_permission_denied)) {
    const fs::path run = entry.path().parent_path();
    if (entry.path().filename() == "result.json" && fs::exists(run / "experiment.toml"))
      runs.push_back(run.string());
  }
  std::ranges::sort(runs);
  std::map<std::string, Measured> by_settings;
  for (const std::string& run : runs) {
    const Experiment experiment = read_experiment(run + "/experiment.toml");
    if (experiment.task.kind != "traces") continue;
    nlohmann::json settings = experiment.resolved;  // all but what may differ from seed to seed
    for (const char* key : {"seed", "threads", "evaluation", "checkpoint"}) settings.erase(key);
    settings["from"] = without_seed(experiment.from, std::to_string(experiment.seed));
    Measured& measured = by_settings[settings.dump()];
    if (measured.seeds.empty()) {
      measured = described(experiment);
      measured.from = fs::path(run).parent_path().string();
    }
    // A copy of a run, or the same seed evaluated once more.
    if (std::ranges::find(measured.seeds, experiment.seed) != measured.seeds.end()) continue;
    const Json result = parse_ordered_json(read_file(run + "/result.json"), run + "/result.json");
    if (!result.is_object()) continue;
    measured.parameters = result.value("parameters", std::int64_t{0});
    measured.seeds.push_back(experiment.seed);
    measured.directories.push_back(run);
    if (!fs::exists(run + "/evaluation.json")) continue;
    const Json cells =
        parse_ordered_json(read_file(run + "/evaluation.json"), run + "/evaluation.json");
    if (cells.is_array()) add_run(measured, cells);
  }
  std::vector<Measured> found;
  for (auto& [settings, measured] : by_settings) found.push_back(std::move(measured));
  return found;
}

std::vector<Measured> measured_of_results(const std::string& directory) {
  std::vector<Measured> found;
  if (!fs::is_directory(directory))
    fail("published results must be in a directory; '{}' is not one", directory);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (fs::exists(entry.path() / "results.json")) files.push_back(entry.path() / "results.json");
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const Json all = parse_ordered_json(read_file(file.string()), file.string());
    if (!all.is_object() || !all.contains("runs"))
      throw InputError(file.string(), "published results must be the JSON that a sweep writes");
    const fs::path experiment = file.parent_path() / "experiment.toml";
    if (!fs::is_regular_file(experiment)) continue;
    for (Measured& measured : measured_of_sweep(all, experiment.string(), file.string()))
      found.push_back(std::move(measured));
  }
  return found;
}

SeedSpread seed_spread(const std::vector<double>& values) {
  if (values.empty()) wrong_use("a point must have a value");
  const auto [least, most] = std::ranges::minmax(values);
  return {std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()),
          least, most};
}

void add_point(Series& series, double x, const std::vector<double>& values) {
  const SeedSpread spread = seed_spread(values);
  series.x.push_back(x);
  series.y.push_back(spread.mean);
  series.low.push_back(spread.least);
  series.high.push_back(spread.most);
}

std::vector<Measured> best_comparison(const std::vector<Measured>& all,
                                      bool (*wanted)(const Measured&)) {
  std::map<std::pair<std::string, std::string>, std::map<std::string, Measured>> sets;
  const auto better = [](const Measured& a, const Measured& b) {  // of the same label
    return std::pair(a.seeds.size(), a.cells.size()) > std::pair(b.seeds.size(), b.cells.size());
  };
  for (const Measured& one : all) {
    if (!wanted(one)) continue;
    auto& labels = sets[{one.experiment, one.group}];
    const auto [at, is_new] = labels.try_emplace(one.label, one);
    if (!is_new && better(one, at->second)) at->second = one;
  }
  std::vector<Measured> best;
  std::tuple<std::size_t, bool, std::size_t> best_score{1, false, 0};
  for (const auto& [key, labels] : sets) {
    std::size_t seeds = 0;
    for (const auto& [label, one] : labels) seeds += one.seeds.size();
    const std::tuple score{labels.size(), key.second == "S5", seeds};
    if (labels.size() < 2 || score <= best_score) continue;
    best_score = score;
    best.clear();
    for (const auto& [label, one] : labels) best.push_back(one);
  }
  return best;
}

SeriesStyle style_of(const std::string& label, std::size_t otherwise) {
  if (label.starts_with("DeltaNet [-1,1]")) return {.colour = kBlue};
  if (label.starts_with("DeltaNet [0,1]")) return {.colour = kVermilion, .dash = "5 2"};
  if (label.starts_with("Transformer")) return {.colour = kGreen, .dash = "1.5 1.5"};
  return {.colour = colour_of(3 + otherwise), .dash = dash_of(otherwise)};
}

double chance_of(const Measured& measured) {
  return 1 / static_cast<double>(group_degree(measured.group));
}

}  // namespace shellgame
