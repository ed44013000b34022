#include "shellgame/figures/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace shellgame {

Measured runs_inside(FigureSources& sources, std::size_t most) {
  const auto usable = [](const Measured& one) {
    const bool reflects =
        one.label == "DeltaNet [-1,1]" || one.label.starts_with("DeltaProduct [-1,1]");
    return reflects && one.moves == "permutations" && !one.directories.empty() &&
           std::ranges::all_of(one.directories, [](const std::string& run) {
             return std::filesystem::exists(run + "/model");
           });
  };
  const auto accuracy = [](const Measured& one) {
    const auto cell = one.cells.find(one.trained);
    return cell == one.cells.end() ? 0.0 : seed_spread(cell->second.accuracy).mean;
  };
  const Measured* best = nullptr;
  for (const Measured& one : sources.found()) {
    if (!usable(one)) continue;
    const auto score = [&](const Measured& m) {
      return std::tuple(m.group == "S5", std::min(m.seeds.size(), most), accuracy(m));
    };
    if (best == nullptr || score(one) > score(*best)) best = &one;
  }
  Measured runs = best != nullptr ? *best : sources.trained(SmallExperiment::kInside).front();
  if (runs.directories.size() > most) {
    runs.directories.resize(most);
    runs.seeds.resize(most);
  }
  return runs;
}

std::vector<Measured> comparison(FigureSources& sources, bool (*wanted)(const Measured&)) {
  std::vector<Measured> sets = best_comparison(sources.found(), wanted);
  if (!sets.empty()) return sets;
  return best_comparison(sources.trained(SmallExperiment::kArchitectures), wanted);
}

std::string origin_of(const std::vector<Measured>& sets) {
  std::vector<std::string> froms;
  std::size_t least = sets.front().seeds.size(), most = least;
  for (const Measured& one : sets) {
    if (std::ranges::find(froms, one.from) == froms.end()) froms.push_back(one.from);
    least = std::min(least, one.seeds.size());
    most = std::max(most, one.seeds.size());
  }
  std::string text = most == 1 ? "one seed" : fmt::format("{} seeds", most);
  if (least != most) text = fmt::format("{} to {} seeds", least, most);
  text += " of experiment " + sets.front().experiment;
  for (std::size_t i = 0; i < froms.size(); ++i) text += (i == 0 ? " (" : ", ") + froms[i];
  return text + ")";
}

}  // namespace shellgame
