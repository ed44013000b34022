#include "shellgame/evaluate/cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

std::optional<double> if_known(const EvaluationCell& cell, double number) {
  return cell.has_beliefs ? std::optional(number) : std::nullopt;
}

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

// The values of one metric, one for each seed.
std::vector<double> by_seed(const EvaluationCell& cell, const Metric& metric) {
  std::vector<double> values;
  for (const SeedResult& seed : cell.seeds) {
    if (const auto value = metric.get(cell, seed.statistics)) values.push_back(*value);
  }
  return values;
}

Json bounds_of(const Share& share) { return {share.bounds.low, share.bounds.high}; }

Json position_json(const EvaluationCell& cell, const PositionGroup& group) {
  Json json = {{"first", group.first},
               {"last", group.last},
               {"command", group.command},
               {"accuracy", group.accuracy.value},
               {"accuracy_bounds", bounds_of(group.accuracy)},
               {"whole_prefix_accuracy", group.whole_prefix.value},
               {"whole_prefix_bounds", bounds_of(group.whole_prefix)},
               {"cross_entropy", group.cross_entropy},
               {"value_cross_entropy", group.value_cross_entropy}};
  json["bayes_cross_entropy"] = number(if_known(cell, group.bayes_cross_entropy));
  json["regret"] = number(if_known(cell, group.regret));
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
  json["bounds"] = {{"accuracy", bounds_of(all.accuracy)},
                    {"strict_accuracy", bounds_of(all.strict_accuracy)},
                    {"final_accuracy", bounds_of(all.final_accuracy)},
                    {"last_quarter_accuracy", bounds_of(all.last_quarter_accuracy)},
                    {"last_eighth_accuracy", bounds_of(all.last_eighth_accuracy)},
                    {"whole_prefix_accuracy", bounds_of(all.whole_prefix_accuracy)}};
  if (cell.has_beliefs && std::isfinite(all.regret_bounds.high))
    json["bounds"]["regret"] = {all.regret_bounds.low, all.regret_bounds.high};
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
    const std::vector<double> values = by_seed(cell, metric);
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

const std::vector<Metric>& evaluation_metrics() {
  static const std::vector<Metric> metrics = {
      {"accuracy",
       [](const EvaluationCell&, const Statistics& s) { return std::optional(s.accuracy.value); }},
      {"strict_accuracy",
       [](const EvaluationCell&, const Statistics& s) {
         return std::optional(s.strict_accuracy.value);
       }},
      {"final_accuracy", [](const EvaluationCell&,
                            const Statistics& s) { return std::optional(s.final_accuracy.value); }},
      {"last_quarter_accuracy",
       [](const EvaluationCell&, const Statistics& s) {
         return std::optional(s.last_quarter_accuracy.value);
       }},
      {"last_eighth_accuracy",
       [](const EvaluationCell&, const Statistics& s) {
         return std::optional(s.last_eighth_accuracy.value);
       }},
      {"whole_prefix_accuracy",
       [](const EvaluationCell&, const Statistics& s) {
         return std::optional(s.whole_prefix_accuracy.value);
       }},
      {"scaled_accuracy",
       [](const EvaluationCell&, const Statistics& s) { return std::optional(s.scaled_accuracy); }},
      {"cross_entropy",
       [](const EvaluationCell&, const Statistics& s) { return std::optional(s.cross_entropy); }},
      {"value_cross_entropy",
       [](const EvaluationCell&, const Statistics& s) {
         return std::optional(s.value_cross_entropy);
       }},
      {"bayes_cross_entropy",
       [](const EvaluationCell& c, const Statistics& s) {
         return if_known(c, s.bayes_cross_entropy);
       }},
      {"regret",
       [](const EvaluationCell& c, const Statistics& s) { return if_known(c, s.regret); }},
      {"miss", [](const EvaluationCell&, const Statistics& s) { return std::optional(s.miss); }},
      {"total_variation",
       [](const EvaluationCell& c, const Statistics& s) {
         return std::isfinite(s.variation) ? if_known(c, s.variation) : std::nullopt;
       }},
      {"outside",
       [](const EvaluationCell&, const Statistics& s) { return std::optional(s.outside); }},
      {"expected_bayes_accuracy",
       [](const EvaluationCell& c, const Statistics& s) {
         return if_known(c, s.expected_bayes_accuracy);
       }},
      {"bayes_accuracy",
       [](const EvaluationCell& c, const Statistics& s) { return if_known(c, s.bayes_accuracy); }},
      {"bayes_agreement",
       [](const EvaluationCell& c, const Statistics& s) { return if_known(c, s.bayes_agreement); }},
      {"first_failure_mean",
       [](const EvaluationCell&, const Statistics& s) {
         return std::optional(s.first_failure_mean);
       }},
  };
  return metrics;
}

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
  text +=
      ",accuracy_low,accuracy_high,final_accuracy_low,final_accuracy_high,"
      "whole_prefix_accuracy_low,whole_prefix_accuracy_high\n";
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
      const std::vector<double> values = by_seed(cell, metric);
      text += field(values.empty() ? std::nullopt : std::optional(spread_of(values).deviation));
    }
    for (const Share* share : {&all.accuracy, &all.final_accuracy, &all.whole_prefix_accuracy}) {
      text += fmt::format(",{},{}", share->bounds.low, share->bounds.high);
    }
    text += "\n";
  }
  return text;
}

}  // namespace shellgame
