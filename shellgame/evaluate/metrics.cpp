// The table of all that evaluations report of a cell: shares and lengths, which are counted from
// whole traces, here; means over answers from kMeasures.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shellgame/evaluate/cell.h"

namespace shellgame {
namespace {

std::string nats_text(double value) {
  return value != 0 && value < 5e-5 ? fmt::format("{:.0e}", value) : fmt::format("{:.4f}", value);
}

Metric share(const char* name, Share Statistics::*member, const char* column, Metric::Bounded in) {
  return {.name = name,
          .get = [member](const EvaluationCell&,
                          const Statistics& s) { return std::optional((s.*member).value); },
          .column = column,
          .text = [](const Statistics&, double value) { return share_text(value); },
          .bounds = [member](const EvaluationCell&,
                             const Statistics& s) { return std::optional((s.*member).bounds); },
          .bounds_text = share_bounds_text,
          .bounded = in};
}

Metric mean_of(const Measure& measure) {
  Metric metric{
      .name = measure.name,
      .get = [measure](const EvaluationCell& cell,
                       const Statistics& s) { return cell.value_of(measure, s.mean); },
      .column = measure.column,
      .text = [measure](const Statistics&, double value) { return measure_text(measure, value); },
      .of_belief = measure.of_belief};
  if (measure.number == &AnswerNumbers::regret) {
    metric.bounds = [](const EvaluationCell& cell, const Statistics& s) {
      return cell.has_beliefs ? std::optional(s.regret_bounds) : std::nullopt;
    };
    metric.bounds_text = [](const Bounds& b) {
      return fmt::format("{}-{}", nats_text(b.low), nats_text(b.high));
    };
    metric.bounded = {.in_text = true};
  }
  return metric;
}

std::vector<Metric> all_metrics() {
  std::vector<Metric> all = {
      share("accuracy", &Statistics::accuracy, "accuracy", {.in_text = true, .in_csv = true}),
      share("strict_accuracy", &Statistics::strict_accuracy, nullptr, {}),
      share("final_accuracy", &Statistics::final_accuracy, "final",
            {.in_text = true, .in_csv = true}),
      share("last_quarter_accuracy", &Statistics::last_quarter_accuracy, "last 1/4", {}),
      share("last_eighth_accuracy", &Statistics::last_eighth_accuracy, "last 1/8", {}),
      share("whole_prefix_accuracy", &Statistics::whole_prefix_accuracy, "whole", {.in_csv = true}),
      {.name = "scaled_accuracy",
       .get = [](const EvaluationCell&,
                 const Statistics& s) { return std::optional(s.scaled_accuracy); },
       .column = "scaled",
       .text = [](const Statistics&, double value) { return share_text(value); }}};
  for (const Measure& measure : kMeasures) all.push_back(mean_of(measure));
  all.push_back({.name = "first_failure_mean",
                 .get = [](const EvaluationCell&,
                           const Statistics& s) { return std::optional(s.first_failure_mean); },
                 .column = "first failure",
                 .text =
                     [](const Statistics& s, double value) {
                       const Share& whole = s.whole_prefix_accuracy;
                       return whole.right == whole.of ? "none" : fmt::format("{:.1f}", value);
                     },
                 .comes_last = true});
  return all;
}

}  // namespace

std::optional<double> EvaluationCell::value_of(const Measure& measure,
                                               const AnswerNumbers& mean) const {
  const double value = mean.*measure.number;
  const bool known = (has_beliefs || !measure.of_belief) && !std::isnan(value);
  return known ? std::optional(value) : std::nullopt;
}

std::string share_text(double value) {
  if (value < 1 && value >= 0.99995) return fmt::format("{:.6f}", value);
  return fmt::format("{:.4f}", value);
}

std::string share_bounds_text(const Bounds& bounds) {
  return fmt::format("{:.3f}-{:.3f}", bounds.low, bounds.high);
}

std::string measure_text(const Measure& measure, double value) {
  return measure.is_share ? share_text(value) : nats_text(value);
}

const std::vector<Metric>& evaluation_metrics() {
  static const std::vector<Metric> metrics = all_metrics();
  return metrics;
}

std::vector<double> values_by_seed(const EvaluationCell& cell, const Metric& metric) {
  std::vector<double> values;
  for (const SeedResult& seed : cell.seeds) {
    if (const auto value = metric.get(cell, seed.statistics)) values.push_back(*value);
  }
  return values;
}

}  // namespace shellgame
