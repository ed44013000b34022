#include "shellgame/report/sweep_charts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "shellgame/evaluate/cell_name.h"
#include "shellgame/report/xml_text.h"
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/text/read_json.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

// More places than this in a chart of reveals would be a smear.
constexpr std::size_t kMostReveals = 64;

LineChart chart_of(const ChartTexts& texts, const std::string& about, const std::string& x_label,
                   const std::string& y_label) {
  LineChart chart{.title = fmt::format("{}{}{}", texts.title,
                                       texts.title.empty() || about.empty() ? "" : ", ", about),
                  .x_label = x_label,
                  .y_label = y_label,
                  .curves = {}};
  chart.note = texts.note;
  if (texts.chance > 0) {
    chart.level_name = "chance";
    chart.level = texts.chance;
  }
  return chart;
}

// Adds the point (x, mean) with its band; one value has no band.
void add_point(Curve& curve, double x, const std::vector<double>& values) {
  if (values.empty()) return;
  const auto [least, most] = std::ranges::minmax(values);
  curve.x.push_back(x);
  curve.y.push_back(std::accumulate(values.begin(), values.end(), 0.0) /
                    static_cast<double>(values.size()));
  curve.low.push_back(least);
  curve.high.push_back(most);
}

void add_curve(LineChart& chart, Curve curve) {
  if (curve.x.empty()) return;
  if (curve.low == curve.high) curve.low = curve.high = {};
  chart.curves.push_back(std::move(curve));
}

// A run's (tokens, accuracy over `window` steps).
std::vector<std::pair<double, double>> course_of(const std::string& path, int window) {
  std::vector<std::pair<double, double>> course;
  const std::string lines = read_file(path);
  double sum = 0;
  int steps = 0, known = 0;  // a step without a reveal has no accuracy
  const auto visit = [&](const MetricsLine& line) {
    const double tokens = number_of(line.value, "tokens"),
                 accuracy = number_of(line.value, "accuracy");
    if (!line.value.contains("loss") || !std::isfinite(tokens)) return;
    if (std::isfinite(accuracy)) {
      sum += accuracy;
      ++known;
    }
    if (++steps % window != 0) return;
    if (known > 0) course.emplace_back(tokens, sum / known);
    sum = known = 0;
  };
  each_metrics_line(lines, path, visit, [](const std::string& sentence) {
    say("note: {}; the line is passed over", sentence);
  });
  return course;
}

// Of a course at a number of tokens, between its points on a straight line; after its end, its end.
double value_at(const std::vector<std::pair<double, double>>& course, double tokens) {
  const auto after =
      std::ranges::lower_bound(course, tokens, {}, &std::pair<double, double>::first);
  if (after == course.begin()) return course.front().second;
  if (after == course.end()) return course.back().second;
  const auto before = after - 1;
  const double part = (tokens - before->first) / (after->first - before->first);
  return before->second + part * (after->second - before->second);
}

std::set<double> values_of(const Json& all, const std::string& key) {
  std::set<double> values;
  for (const Json& entry : all["runs"]) {
    for (const Json& cell : entry["cells"]) {
      if (cell.contains(key) && cell[key].is_number()) values.insert(cell[key].get<double>());
    }
  }
  return values;
}

}  // namespace

std::string settings_name(const Json& entry) {
  std::vector<std::string> parts;
  for (const Json& setting : entry["settings"]) {
    const auto text = setting.get<std::string>();
    parts.push_back(text.starts_with("arm=") ? text.substr(4) : text);
  }
  return parts.empty() ? "accuracy" : fmt::format("{}", fmt::join(parts, " "));
}

LineChart training_chart(const Json& all, const std::string& runs, const ChartTexts& texts,
                         int window) {
  LineChart chart = chart_of(texts, "in training", "tokens",
                             fmt::format("accuracy of revealed values ({} steps)", window));
  for (const Json& entry : all["runs"]) {
    std::vector<std::vector<std::pair<double, double>>> courses;
    for (const Json& directory : entry.value("directories", Json::array())) {
      courses.push_back(course_of(
          fmt::format("{}/{}/metrics.jsonl", runs, directory.get<std::string>()), window));
      if (courses.back().empty()) courses.pop_back();
    }
    if (courses.empty()) continue;
    // One run's own points; of several, points at equal steps of tokens.
    Curve curve{settings_name(entry), {}, {}};
    if (courses.size() == 1) {
      for (const auto& [tokens, accuracy] : courses[0]) add_point(curve, tokens, {accuracy});
    } else {
      double last = 0;
      for (const auto& course : courses) last = std::max(last, course.back().first);
      constexpr int kPoints = 150;
      for (int i = 1; i <= kPoints; ++i) {
        std::vector<double> values;
        for (const auto& course : courses) values.push_back(value_at(course, last * i / kPoints));
        add_point(curve, last * i / kPoints, values);
      }
    }
    add_curve(chart, std::move(curve));
  }
  return chart;
}

LineChart cells_chart(const Json& all, const std::string& along, const std::string& fixed,
                      double value, const ChartTexts& texts) {
  const std::string about = fixed.empty() ? "" : fmt::format("{} {}", fixed, value);
  LineChart chart = chart_of(texts, about, along, "accuracy of revealed values");
  const std::set<double> places = values_of(all, along);
  chart.log_x = !places.empty() && *places.rbegin() >= 8 * *places.begin();
  for (const Json& entry : all["runs"]) {
    std::map<double, std::vector<double>> points;
    for (const Json& cell : entry["cells"]) {
      add_trained_marks(cell_trained(cell), along, chart.marks);
      // A length that is drawn from a range is a text, and has no place on an axis.
      if (!cell.contains(along) || !cell[along].is_number() || !cell.contains("accuracy")) continue;
      if (!fixed.empty() && cell.value(fixed, 0.0) != value) continue;
      points[cell[along].get<double>()] = cell["accuracy"].get<std::vector<double>>();
    }
    Curve curve{settings_name(entry), {}, {}};
    for (const auto& [x, values] : points) add_point(curve, x, values);
    add_curve(chart, std::move(curve));
  }
  return chart;
}

LineChart reveals_chart(const Json& all, std::size_t cell, const ChartTexts& texts) {
  const std::string name = all["runs"][0]["cells"].at(cell)["name"].get<std::string>();
  LineChart chart = chart_of(texts, "each reveal at " + name, "reveal", "accuracy");
  for (const Json& entry : all["runs"]) {
    if (entry["cells"].size() <= cell) continue;
    const Json by_seed = entry["cells"][cell].value("by_position", Json::array());
    Curve curve{settings_name(entry), {}, {}};
    for (std::size_t i = 0; !by_seed.empty() && i < by_seed[0].size(); ++i) {
      std::vector<double> values;
      for (const Json& seed : by_seed) values.push_back(seed.at(i).get<double>());
      add_point(curve, static_cast<double>(i + 1), values);
    }
    add_curve(chart, std::move(curve));
  }
  return chart;
}

std::vector<std::string> draw_sweep(const Json& all, const std::string& runs,
                                    const ChartTexts& texts) {
  std::vector<std::string> files;
  const auto write = [&](const std::string& name, const LineChart& chart) {
    const bool drawn =
        std::ranges::any_of(chart.curves, [](const Curve& curve) { return curve.x.size() > 1; });
    if (!drawn) return;
    write_file(fmt::format("{}/{}.svg", runs, name), chart.svg());
    files.push_back(name + ".svg");
  };
  write("training", training_chart(all, runs, texts));
  const Json& cells = all["runs"][0]["cells"];
  const std::vector<std::string> axes =
      cells.empty() ? std::vector<std::string>() : cell_axes(cells[0]);
  if (axes.size() == 1) write(axes[0] + "s", cells_chart(all, axes[0], "", 0, texts));
  // Of more axes each along every one, for each value of another.
  for (const std::string& along : axes) {
    for (const std::string& fixed : axes) {
      if (along == fixed) continue;
      for (const double value : values_of(all, fixed))
        write(fmt::format("{}-{}-{}", along, fixed, value),
              cells_chart(all, along, fixed, value, texts));
    }
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Json by_seed = cells[i].value("by_position", Json::array());
    if (by_seed.empty() || by_seed[0].size() > kMostReveals) continue;
    std::string name = "reveals";
    for (const std::string& axis : cell_axes(cells[i])) name += "-" + cell_value(cells[i], axis);
    std::ranges::replace(name, '/', '_');
    write(name, reveals_chart(all, i, texts));
  }
  return files;
}

}  // namespace shellgame
