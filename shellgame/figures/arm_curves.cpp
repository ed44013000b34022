#include "shellgame/figures/arm_curves.h"

#include <algorithm>
#include <cmath>

#include "shellgame/evaluate/rank_sum.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

bool has_value(const TableRecord& record, const std::string& field, const std::string& wanted) {
  const Json* value = record.find(field).first;
  if (value == nullptr) return false;
  return (value->is_string() ? value->get<std::string>() : value->dump()) == wanted;
}

const Json* number_of(const TableRecord& record, const std::string& field) {
  const Json* value = record.find(field).first;
  return value != nullptr && value->is_number() ? value : nullptr;
}

std::string word_of(const TableRecord& record, const std::string& field) {
  const Json* value = record.find(field).first;
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

}  // namespace

std::size_t ArmCurve::seeds() const {
  std::size_t most = 0;
  for (const auto& [x, values] : points) most = std::max(most, values.size());
  return most;
}

Series ArmCurve::series() const {
  Series series;
  for (const auto& [x, pairs] : points) {
    std::vector<double> values;
    for (const auto& [seed, value] : pairs) values.push_back(value);
    series.x.push_back(x);
    series.y.push_back(median_of(values));
    series.low.push_back(std::ranges::min(values));
    series.high.push_back(std::ranges::max(values));
  }
  return series;
}

std::vector<ArmCurve> arm_curves(const std::vector<TableRecord>& records, const RecordFilter& where,
                                 const std::string& x, const std::string& y,
                                 const std::vector<std::string>& arms) {
  std::vector<ArmCurve> curves;
  for (const std::string& arm : arms) curves.push_back({.arm = arm, .points = {}});
  for (const TableRecord& record : records) {
    const bool wanted = std::ranges::all_of(
        where, [&](const auto& one) { return has_value(record, one.first, one.second); });
    const Json *at = number_of(record, x), *value = number_of(record, y);
    if (!wanted || at == nullptr || value == nullptr) continue;
    const std::string arm = word_of(record, "arm");
    auto place = std::ranges::find(curves, arm, &ArmCurve::arm);
    if (place == curves.end()) {
      if (!arms.empty()) continue;
      place = curves.insert(curves.end(), {.arm = arm, .points = {}});
    }
    const Json* seed = number_of(record, "seed");
    place->points[at->get<double>()].emplace_back(
        seed == nullptr ? 0 : static_cast<std::uint64_t>(seed->get<double>()),
        value->get<double>());
  }
  std::erase_if(curves, [](const ArmCurve& curve) { return curve.points.empty(); });
  return curves;
}

SeriesStyle arm_style(const std::string& arm) {
  // Linear recurrences in blue, gated cells in warm colours, what is neither in green.
  static const std::vector<std::pair<std::string, SeriesStyle>> known = {
      {"DN2", {.colour = kBlue}},
      {"DN1", {.colour = kSky, .dash = "4 2"}},
      {"LSTM1", {.colour = kVermilion}},
      {"LSTM2", {.colour = kOrange, .dash = "4 2"}},
      {"GRU1", {.colour = kPurple}},
      {"DeltaNet [-1,1]", {.colour = kBlue}},
      {"DeltaNet [0,1]", {.colour = kVermilion, .dash = "4 2"}}};
  for (const auto& [name, style] : known) {
    if (name == arm) return style;
  }
  std::size_t sum = 0;
  for (const char c : arm) sum += static_cast<unsigned char>(c);
  return {.colour = kGreen, .dash = dash_of(sum)};
}

void draw_arm_curves(Figure& figure, Panel& panel, const std::vector<ArmCurve>& curves,
                     const std::vector<CsvTable::Field>& words) {
  for (const ArmCurve& curve : curves) {
    panel.series(curve.series(), arm_style(curve.arm), curve.arm);
    for (const auto& [x, values] : curve.points) {
      for (const auto& [seed, value] : values) {
        std::vector<CsvTable::Field> row = words;
        row.insert(row.end(), {curve.arm, static_cast<double>(seed), x, value});
        figure.table.row(row);
      }
    }
  }
}

std::vector<LegendEntry> arm_legend(const std::vector<ArmCurve>& curves) {
  std::vector<LegendEntry> legend;
  for (const ArmCurve& curve : curves) legend.push_back({curve.arm, arm_style(curve.arm)});
  return legend;
}

}  // namespace shellgame
