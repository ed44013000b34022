// The section of a page on training: curves against steps and tokens, and where stages began.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shellgame/evaluate/cell_name.h"
#include "shellgame/report/html_page.h"
#include "shellgame/report/page_chart.h"
#include "shellgame/report/page_table.h"
#include "shellgame/report/xml_text.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;
using CourseColumn = std::vector<double> Course::*;

constexpr std::size_t kPoints = 120;    // of a curve; each is the mean of the steps around it
constexpr std::size_t kMostCurves = 8;  // more runs are drawn as their groups' means
constexpr std::size_t kFewRuns = 3;     // more would cover their charts with the marks of stages

// Step and tokens at which each stage began.
std::vector<std::size_t> stage_starts(const Course& course) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < course.stage.size(); ++i) {
    if (i == 0 || course.stage[i] != course.stage[i - 1]) starts.push_back(i);
  }
  return starts;
}

// The mean of `series` in each of kPoints equal parts of [0, most]; NaN in a part without a step.
std::vector<double> in_parts(const Course& course, CourseColumn x, CourseColumn series,
                             double most) {
  std::vector<double> sums(kPoints, 0), counts(kPoints, 0);
  for (std::size_t i = 0; i < (course.*x).size(); ++i) {
    const double at = (course.*x)[i], value = (course.*series)[i];
    if (!std::isfinite(at) || !std::isfinite(value)) continue;
    const auto part = static_cast<std::size_t>(
        std::clamp(std::ceil(at / most * kPoints) - 1, 0.0, static_cast<double>(kPoints - 1)));
    sums[part] += value;
    ++counts[part];
  }
  for (std::size_t i = 0; i < kPoints; ++i) sums[i] /= counts[i];  // 0 / 0 is NaN
  return sums;
}

std::vector<std::pair<double, std::string>> stage_marks(const Course& course, CourseColumn x) {
  std::vector<std::pair<double, std::string>> marks;
  for (const std::size_t i : stage_starts(course)) {
    if (i == 0) continue;
    marks.emplace_back(
        (course.*x)[i],
        fmt::format("stage {} begins at step {}, after {} tokens", course.stage[i] + 1,
                    short_number(course.step[i]), short_number(course.tokens[i])));
  }
  return marks;
}

struct Quantity {
  const char* title;
  const char* y_label;
  CourseColumn series;
  double most;  // of its axis; 0: what the curves need
};

PageChart chart_of(const std::vector<RunGroup>& groups, const Quantity& quantity, CourseColumn x) {
  const bool steps = x == &Course::step;
  PageChart chart{.title = quantity.title,
                  .x_label = steps ? "step" : "tokens",
                  .y_label = quantity.y_label,
                  .curves = {}};
  chart.style = steps ? "by-steps" : "by-tokens";
  chart.y_most = quantity.most;
  double most = 0;
  std::size_t runs = 0;
  for (const RunGroup& group : groups) {
    for (const RunRecord* run : group.runs) {
      for (const double at : run->course.*x) most = std::isfinite(at) ? std::max(most, at) : most;
      ++runs;
    }
  }
  if (most <= 0) return chart;
  std::vector<double> places;
  for (std::size_t i = 1; i <= kPoints; ++i) {
    const double at = most * static_cast<double>(i) / kPoints;
    places.push_back(std::round(at * 10) / 10);
  }
  int colour = 0;
  for (const RunGroup& group : groups) {
    std::vector<std::vector<double>> values;
    for (const RunRecord* run : group.runs) {
      values.push_back(in_parts(run->course, x, quantity.series, most));
      if (runs > kMostCurves) continue;
      PageCurve one{.curve = {run_name(group, *run), places, values.back()}, .colour = colour++};
      if (runs == 1) {
        for (const std::size_t i : stage_starts(run->course))
          if (i > 0)
            chart.lines.emplace_back((run->course.*x)[i],
                                     fmt::format("{}", run->course.stage[i] + 1));
        one.curve.name = "";
      } else {
        if (runs <= kFewRuns || quantity.series == &Course::accuracy)
          one.marks = stage_marks(run->course, x);
      }
      chart.curves.push_back(std::move(one));
    }
    if (runs <= kMostCurves) continue;
    PageCurve mean{.curve = {group.name, places, {}}, .colour = colour++};
    for (std::size_t i = 0; i < kPoints; ++i) {
      std::vector<double> at;
      for (const auto& list : values) at.push_back(list[i]);
      const RunSpread spread = run_spread(at);
      mean.curve.y.push_back(spread.mean);
      mean.curve.low.push_back(spread.least);
      mean.curve.high.push_back(spread.most);
    }
    chart.curves.push_back(std::move(mean));
  }
  return chart;
}

std::string stages_table(const std::vector<RunGroup>& groups) {
  std::size_t most = 0;
  for (const RunGroup& group : groups) {
    for (const RunRecord* run : group.runs)
      for (const double stage : run->course.stage)
        if (stage >= 0 && stage < 1000) most = std::max(most, static_cast<std::size_t>(stage) + 1);
  }
  if (most < 2) return "";
  PageTable table{"The first step of each stage (on hovering: the tokens read before it)", {"run"}};
  for (std::size_t i = 0; i < most; ++i) table.head.push_back(fmt::format("stage {}", i + 1));
  for (const RunGroup& group : groups) {
    for (const RunRecord* run : group.runs) {
      std::vector<PageCell> row(most + 1, PageCell{"-"});
      row[0] = {run_name(group, *run)};
      for (const std::size_t i : stage_starts(run->course)) {
        const double stage = run->course.stage[i];
        if (!(stage >= 0 && stage < 1000)) continue;
        row[static_cast<std::size_t>(stage) + 1] = {
            fmt::format("{:.0f}", run->course.step[i]),
            fmt::format("{} tokens", i == 0 ? 0 : run->course.tokens[i - 1])};
      }
      table.rows.push_back(row);
    }
  }
  return folded("Stages", table.html());
}

// Evaluations on the way, if the experiment asked for them: a chart for each cell's accuracy.
std::string on_the_way(const std::vector<RunGroup>& groups) {
  PageChart chart{.title = "Accuracy of evaluations on the way",
                  .x_label = "step",
                  .y_label = "accuracy",
                  .curves = {}};
  chart.y_most = 1;
  int colour = 0;
  for (const RunGroup& group : groups) {
    for (const RunRecord* run : group.runs) {
      std::vector<std::pair<std::string, Curve>> curves;
      for (const auto& [step, cells] : run->course.evaluations) {
        for (const Json& cell : cells) {
          const std::string name = cell_words(cell);
          auto found = std::ranges::find(curves, name, &std::pair<std::string, Curve>::first);
          if (found == curves.end()) {
            curves.push_back({name, {fmt::format("{}: {}", run_name(group, *run), name), {}, {}}});
            found = curves.end() - 1;
          }
          found->second.x.push_back(step);
          found->second.y.push_back(number_of(cell, "accuracy"));
        }
      }
      for (auto& [name, curve] : curves)
        chart.curves.push_back({.curve = std::move(curve), .colour = colour++});
    }
  }
  return chart.figure();
}

}  // namespace

std::string training_section(const std::vector<RunGroup>& groups) {
  const Quantity quantities[] = {
      {"Loss", "loss", &Course::loss, 0},
      {"Accuracy of revealed values", "accuracy", &Course::accuracy, 1},
      {"Learning rate", "learning rate", &Course::learning_rate, 0},
      {"Tokens a second", "tokens a second", &Course::tokens_per_second, 0}};
  std::string charts;
  std::size_t runs = 0;
  for (const RunGroup& group : groups) runs += group.runs.size();
  for (const Quantity& quantity : quantities) {
    for (const CourseColumn x : {&Course::step, &Course::tokens})
      charts += chart_of(groups, quantity, x).figure();
  }
  if (charts.empty()) return "<p>No step has been made yet.</p>\n";
  std::string out =
      "<fieldset class=\"choice\"><legend>Against</legend>"
      "<input type=\"radio\" name=\"x\" id=\"x-steps\" checked=\"checked\"/>"
      "<label for=\"x-steps\">steps</label>"
      "<input type=\"radio\" name=\"x\" id=\"x-tokens\"/><label for=\"x-tokens\">tokens</label>"
      "</fieldset>\n<div class=\"charts\">\n" +
      charts + "</div>\n";
  out += "<p class=\"note\">Each point is the mean of the steps around it. ";
  out += runs == 1 ? "Dotted lines: where a stage begins, with its number."
         : runs <= kMostCurves
             ? "Circles: where a stage begins."
             : "A curve is the mean of a configuration's runs that are still going there, its band "
               "from the least to the most of them.";
  out += "</p>\n";
  if (const std::string more = on_the_way(groups); !more.empty())
    out += "<div class=\"charts\">\n" + more + "</div>\n";
  return out + stages_table(groups);
}

}  // namespace shellgame
