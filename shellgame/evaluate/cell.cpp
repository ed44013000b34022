#include "shellgame/evaluate/cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json bounds_json(const Bounds& bounds) { return {bounds.low, bounds.high}; }

Json position_json(const EvaluationCell& cell, const PositionGroup& group) {
  Json json = {{"first", group.first},
               {"last", group.last},
               {"command", group.command},
               {"accuracy", group.accuracy.value},
               {"accuracy_bounds", bounds_json(group.accuracy.bounds)},
               {"whole_prefix_accuracy", group.whole_prefix.value},
               {"whole_prefix_bounds", bounds_json(group.whole_prefix.bounds)}};
  for (const Measure& measure : kMeasures) {
    if (measure.at_positions != Measure::AtPositions::kNot)
      json[measure.name] = number(cell.value_of(measure, group.mean));
  }
  return json;
}

Json shown_json(const ShownTrace& trace) {
  Json reveals = Json::array();
  for (const ShownLine& line : trace.lines) {
    reveals.push_back(
        {{"command", line.command},
         {"variable", line.variable},
         {"predicted", line.chosen},
         {"true", line.truth},
         {"probability", line.probability},
         {"bayes", line.bayes.empty() ? Json(nullptr) : Json(line.bayes)},
         {"bayes_probability", line.bayes.empty() ? Json(nullptr) : Json(line.bayes_probability)}});
  }
  return {{"seed", trace.seed}, {"index", trace.index}, {"reveals", reveals}};
}

Json cell_json(const EvaluationReport& report, const EvaluationCell& cell) {
  Json json;
  json["axes"] = Json::array();
  for (const Coordinate& axis : cell.axes) {
    json["axes"].push_back(axis.name);
    json[axis.name] = axis_json(axis);
  }
  for (const Metric& metric : evaluation_metrics()) {
    json[metric.name] = number(metric.get(cell, cell.all));
  }
  const Statistics& all = cell.all;
  json["chance"] = all.chance;
  json["standard_error"] = all.standard_error;
  json["confidence"] = report.confidence;
  json["bounds"] = Json::object();
  for (const Metric& metric : evaluation_metrics()) {
    const auto bounds = metric.bounds ? metric.bounds(cell, all) : std::nullopt;
    if (bounds && std::isfinite(bounds->high)) json["bounds"][metric.name] = bounds_json(*bounds);
  }
  json["first_failure_median"] = number(all.first_failure_median);
  json["traces"] = all.traces;
  json["reveals"] = all.reveals;
  json["tokens"] = cell.tokens;
  json["seconds"] = cell.seconds;
  json["peak_memory_bytes"] = report.peak_memory;
  json["model"] = report.model;
  json["task"] = cell.task;
  if (report.trained && report.trained->longest > 0)
    json["trained"] = {{"axis", report.trained->axis},
                       {"segment", report.trained->segment},
                       {"longest", report.trained->longest}};
  json["mode"] = report.mode;
  json["precision"] = report.precision;
  json["count"] = report.count;
  Json mean, spread;
  for (const Metric& metric : evaluation_metrics()) {
    const std::vector<double> values = values_by_seed(cell, metric);
    const std::optional<Spread> found =
        values.empty() ? std::nullopt : std::optional(spread_of(values));
    mean[metric.name] = found ? Json(found->mean) : Json(nullptr);
    spread[metric.name] = found ? Json(found->deviation) : Json(nullptr);
  }
  json["mean"] = mean;
  json["spread"] = spread;
  json["seeds"] = Json::array();
  for (const SeedResult& seed : cell.seeds) {
    Json one = {{"seed", seed.seed}};
    for (const Metric& metric : evaluation_metrics()) {
      one[metric.name] = number(metric.get(cell, seed.statistics));
    }
    json["seeds"].push_back(one);
  }
  json["positions"] = Json::array();
  for (const PositionGroup& group : all.positions) {
    json["positions"].push_back(position_json(cell, group));
  }
  if (!cell.shown.empty()) {
    json["shown"] = Json::array();
    for (const ShownTrace& trace : cell.shown) json["shown"].push_back(shown_json(trace));
  }
  return json;
}

}  // namespace

std::vector<std::string> axis_names(const EvaluationReport& report) {
  std::vector<std::string> names;
  for (const EvaluationCell& cell : report.cells) {
    for (const Coordinate& axis : cell.axes) {
      if (std::ranges::find(names, axis.name) == names.end()) names.push_back(axis.name);
    }
  }
  return names;
}

std::vector<std::string> axis_values(const EvaluationCell& cell,
                                     const std::vector<std::string>& names) {
  std::vector<std::string> values;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(cell.axes, name, &Coordinate::name);
    values.push_back(found == cell.axes.end() ? "" : found->value);
  }
  return values;
}

Json to_json(const EvaluationReport& report) {
  Json list = Json::array();
  for (const EvaluationCell& cell : report.cells) list.push_back(cell_json(report, cell));
  return list;
}

std::string to_csv(const EvaluationReport& report) {
  std::string text;
  const std::vector<std::string> axes = axis_names(report);
  for (const std::string& axis : axes) text += axis + ",";
  text += "mode,precision,count,seeds,traces,reveals,tokens,chance";
  for (const Metric& metric : evaluation_metrics()) text += fmt::format(",{}", metric.name);
  for (const Metric& metric : evaluation_metrics()) text += fmt::format(",{}_spread", metric.name);
  for (const Metric& metric : evaluation_metrics()) {
    if (metric.bounded.in_csv) text += fmt::format(",{0}_low,{0}_high", metric.name);
  }
  text += ",trained_axis,trained_segment,trained_longest\n";
  const bool trained = report.trained && report.trained->longest > 0;
  for (const EvaluationCell& cell : report.cells) {
    const Statistics& all = cell.all;
    for (const std::string& value : axis_values(cell, axes)) text += value + ",";
    text += fmt::format("{},{},{},{},{},{},{},{}", report.mode, report.precision, report.count,
                        cell.seeds.size(), all.traces, all.reveals, cell.tokens, all.chance);
    const auto field = [](const std::optional<double>& value) {
      return value ? fmt::format(",{}", *value) : ",";
    };
    for (const Metric& metric : evaluation_metrics()) text += field(metric.get(cell, all));
    for (const Metric& metric : evaluation_metrics()) {
      const std::vector<double> values = values_by_seed(cell, metric);
      text += field(values.empty() ? std::nullopt : std::optional(spread_of(values).deviation));
    }
    for (const Metric& metric : evaluation_metrics()) {
      if (!metric.bounded.in_csv) continue;
      const auto bounds = metric.bounds(cell, all);
      text += bounds ? fmt::format(",{},{}", bounds->low, bounds->high) : ",,";
    }
    text += trained ? fmt::format(",{},{},{}", report.trained->axis, report.trained->segment,
                                  report.trained->longest)
                    : ",,,";
    text += "\n";
  }
  return text;
}

}  // namespace shellgame
