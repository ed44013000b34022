#include "shellgame/train/sweep_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace shellgame {

SweepSpread sweep_spread(const std::vector<double>& values) {
  SweepSpread spread;
  for (const double value : values) spread.mean += value / static_cast<double>(values.size());
  for (const double value : values)
    spread.deviation += (value - spread.mean) * (value - spread.mean);
  spread.deviation =
      values.size() > 1 ? std::sqrt(spread.deviation / static_cast<double>(values.size() - 1)) : 0;
  return spread;
}

std::vector<std::string> environments_that_differ(
    const std::vector<nlohmann::ordered_json>& environments, const std::vector<int>& weights) {
  std::vector<std::string> keys;
  for (const nlohmann::ordered_json& environment : environments) {
    for (const auto& [key, value] : environment.items()) {
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  std::vector<std::string> sentences;
  for (const std::string& key : keys) {
    std::vector<std::pair<std::string, int>> values;  // as text, and how many runs
    for (std::size_t i = 0; i < environments.size(); ++i) {
      const std::string text = environments[i].value(key, nlohmann::ordered_json()).dump();
      auto found = std::ranges::find(values, text, &std::pair<std::string, int>::first);
      if (found == values.end()) found = values.insert(values.end(), {text, 0});
      found->second += weights[i];
    }
    if (values.size() < 2) continue;
    std::string sentence = key + ":";
    for (std::size_t i = 0; i < values.size(); ++i)
      sentence += fmt::format("{} {} in {}{}", i == 0 ? "" : ",", values[i].first, values[i].second,
                              i > 0                   ? ""
                              : values[i].second == 1 ? " run"
                                                      : " runs");
    sentences.push_back(sentence);
  }
  return sentences;
}

}  // namespace shellgame
