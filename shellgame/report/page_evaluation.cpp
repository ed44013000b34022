// The section of a page on evaluation: accuracy over commands, spacings and lengths, by reveal and
// until the first failure; then every measure, over seeds and of each one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "shellgame/evaluate/cell_name.h"
#include "shellgame/report/html_page.h"
#include "shellgame/report/page_chart.h"
#include "shellgame/report/page_table.h"
#include "shellgame/report/xml_text.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

const Json* cell_of(const RunRecord& run, const std::string& name) {
  if (!run.evaluation.is_array()) return nullptr;
  for (const Json& cell : run.evaluation) {
    if (cell_words(cell) == name) return &cell;
  }
  return nullptr;
}

// The cells of all runs, in their order, one of each name.
std::vector<const Json*> cells_of(const std::vector<RunGroup>& groups) {
  std::vector<const Json*> cells;
  std::set<std::string> seen;
  for (const RunGroup& group : groups) {
    for (const RunRecord* run : group.runs) {
      if (!run->evaluation.is_array()) continue;
      for (const Json& cell : run->evaluation)
        if (seen.insert(cell_words(cell)).second) cells.push_back(&cell);
    }
  }
  return cells;
}

std::vector<double> values_of(const RunGroup& group, const std::string& cell,
                              const std::string& key) {
  std::vector<double> values;
  for (const RunRecord* run : group.runs) {
    const Json* found = cell_of(*run, cell);
    if (found == nullptr) continue;
    const double value = number_of(*found, key);
    if (std::isfinite(value)) values.push_back(value);
  }
  return values;
}

PageCell spread_cell(const std::vector<double>& values) {
  const RunSpread spread = run_spread(values);
  if (spread.count == 0) return {"-"};
  if (spread.count == 1) return number_cell(spread.mean);
  return {fmt::format("{} ± {}", short_number(spread.mean), short_number(spread.deviation)),
          fmt::format("mean {}, sample standard deviation {} of {} runs, from {} to {}",
                      spread.mean, spread.deviation, spread.count, spread.least, spread.most)};
}

// A row for each configuration, a column for each cell.
std::string accuracy_table(const std::vector<RunGroup>& groups,
                           const std::vector<const Json*>& cells) {
  PageTable table{"Accuracy of revealed values", {"configuration"}};
  for (const Json* cell : cells) table.head.push_back(cell_words(*cell));
  for (const RunGroup& group : groups) {
    std::vector<PageCell> row = {{group.name}};
    for (const Json* cell : cells)
      row.push_back(spread_cell(values_of(group, cell_words(*cell), "accuracy")));
    table.rows.push_back(row);
  }
  return table.html();
}

// The values of a key that the cells have, in order.
std::vector<double> sorted_values(const std::vector<const Json*>& cells, const std::string& key) {
  std::set<double> values;
  for (const Json* cell : cells) {
    const double value = number_of(*cell, key);
    if (std::isfinite(value)) values.insert(value);
  }
  return {values.begin(), values.end()};
}

// For data with two axes, whatever they are: "commands by spacing".
std::string heat_maps(const std::vector<RunGroup>& groups, const std::vector<const Json*>& cells) {
  const std::vector<std::string> axes =
      cells.empty() ? std::vector<std::string>() : cell_axes(*cells.front());
  if (axes.size() != 2) return "";
  const std::vector<double> down = sorted_values(cells, axes[0]),
                            across = sorted_values(cells, axes[1]);
  if (down.size() < 2 || across.size() < 2) return "";
  std::string out = "<div class=\"charts\">\n";
  for (const RunGroup& group : groups) {
    PageTable table{fmt::format("Accuracy, {} by {}: {}", axes[0], axes[1], group.name),
                    {axes[0] + " \\ " + axes[1]}};
    for (const double column : across) table.head.push_back(fmt::format("{}", column));
    for (const double line : down) {
      std::vector<PageCell> row = {{short_value(static_cast<std::int64_t>(line))}};
      for (const double column : across) {
        const auto cell_at = std::ranges::find_if(cells, [&](const Json* one) {
          return number_of(*one, axes[0]) == line && number_of(*one, axes[1]) == column;
        });
        const auto values = cell_at == cells.end()
                                ? std::vector<double>()
                                : values_of(group, cell_words(**cell_at), "accuracy");
        PageCell cell = shade_cell(run_spread(values).mean);
        if (values.size() > 1) cell.title = spread_cell(values).title;
        row.push_back(cell);
      }
      table.rows.push_back(row);
    }
    out += table.html();
  }
  return out + "</div>\n";
}

// How far a group's models were trained; its longest is 0 where that is not known.
TaskRecord trained_of_group(const RunGroup& group) {
  for (const RunRecord* run : group.runs) {
    if (!run->evaluation.is_array() || run->evaluation.empty()) continue;
    if (const TaskRecord record = cell_trained(run->evaluation.front()); record.longest > 0)
      return record;
  }
  return {};
}

// One sentence where all groups have the same.
std::string trained_lines(const std::vector<RunGroup>& groups) {
  std::set<std::string> all;
  std::string lines;
  for (const RunGroup& group : groups) {
    const std::string words = trained_words(trained_of_group(group));
    all.insert(words);
    if (!words.empty())
      lines += fmt::format("<p>{}: {}</p>\n", xml_escaped(group.name), xml_escaped(words));
  }
  if (all.size() == 1 && !all.begin()->empty()) {
    std::string words = *all.begin();
    words[0] = 'T';
    return fmt::format("<p>{}.</p>\n", xml_escaped(words));
  }
  return lines;
}

TrainedMarks trained_marks(const std::vector<RunGroup>& groups, const std::string& along) {
  TrainedMarks marks;
  for (const RunGroup& group : groups) add_trained_marks(trained_of_group(group), along, marks);
  std::ranges::sort(marks);
  return marks;
}

PageChart chart_over(const std::string& title, const std::string& x_label, double chance) {
  PageChart chart{.title = title, .x_label = x_label, .y_label = "accuracy", .curves = {}};
  chart.y_most = 1;
  if (std::isfinite(chance)) {
    chart.level_name = "chance";
    chart.level = chance;
  }
  return chart;
}

// The level of chance, NaN where runs differ in it (other numbers of values).
double common_chance(const std::vector<RunGroup>& groups, const std::string& cell) {
  std::vector<double> all;
  for (const RunGroup& group : groups) {
    const auto values = values_of(group, cell, "chance");
    all.insert(all.end(), values.begin(), values.end());
  }
  const RunSpread spread = run_spread(all);
  return spread.least == spread.most ? spread.mean : std::nan("");
}

// Accuracy along the one key that varies, a curve for each configuration.
std::string line_along(const std::vector<RunGroup>& groups, const std::vector<const Json*>& cells) {
  std::string along;
  for (const std::string& key : cell_axes(*cells[0])) {
    if (sorted_values(cells, key).size() < 2) continue;
    if (!along.empty()) return "";  // the heat map has it
    along = key;
  }
  if (along.empty()) return "";
  PageChart chart = chart_over(fmt::format("Accuracy of revealed values against {}", along), along,
                               common_chance(groups, cell_words(*cells[0])));
  const std::vector<double> places = sorted_values(cells, along);
  chart.log_x = places.back() >= 8 * places.front();
  chart.lines = trained_marks(groups, along);
  chart.lines_at_foot = true;
  int colour = 0;
  for (const RunGroup& group : groups) {
    std::map<double, RunSpread> points;
    for (const Json* cell : cells) {
      const double at = number_of(*cell, along);
      const RunSpread spread = run_spread(values_of(group, cell_words(*cell), "accuracy"));
      if (std::isfinite(at) && spread.count > 0) points[at] = spread;
    }
    PageCurve one{.curve = {groups.size() == 1 ? "" : group.name, {}, {}}, .colour = colour++};
    for (const auto& [x, spread] : points) {
      one.curve.x.push_back(x);
      one.curve.y.push_back(spread.mean);
      one.curve.low.push_back(spread.least);
      one.curve.high.push_back(spread.most);
    }
    chart.curves.push_back(std::move(one));
  }
  return chart.figure();
}

// A number of each position of a cell: the mean over a group's runs with a band from the least to
// the most; of a single run with its exact bounds.
PageCurve by_position(const RunGroup& group, const std::string& cell, const std::string& key,
                      const std::string& bounds) {
  PageCurve one{.curve = {group.name, {}, {}}};
  std::map<double, std::vector<double>> points;
  std::map<double, std::pair<double, double>> exact;
  for (const RunRecord* run : group.runs) {
    const Json* found = cell_of(*run, cell);
    if (found == nullptr || !found->contains("positions") || !(*found)["positions"].is_array())
      continue;
    for (const Json& position : (*found)["positions"]) {
      const double at = number_of(position, "command"), value = number_of(position, key);
      if (!std::isfinite(at) || !std::isfinite(value)) continue;
      points[at].push_back(value);
      if (bounds.empty() || !position.contains(bounds)) continue;
      const Json& pair = position[bounds];
      if (pair.is_array() && pair.size() == 2 && pair[0].is_number() && pair[1].is_number())
        exact[at] = {pair[0].get<double>(), pair[1].get<double>()};
    }
  }
  const bool single = group.runs.size() == 1 && exact.size() == points.size();
  for (const auto& [x, values] : points) {
    const RunSpread spread = run_spread(values);
    one.curve.x.push_back(x);
    one.curve.y.push_back(spread.mean);
    one.curve.low.push_back(single ? exact[x].first : spread.least);
    one.curve.high.push_back(single ? exact[x].second : spread.most);
  }
  return one;
}

std::string position_charts(const std::vector<RunGroup>& groups,
                            const std::vector<const Json*>& cells) {
  struct Kind {
    const char* title;
    const char* y_label;
    const char* key;
    const char* bounds;
    bool share;  // from 0 to 1
  };
  const Kind kinds[] = {
      {"Accuracy at each reveal", "accuracy", "accuracy", "accuracy_bounds", true},
      {"Survival: all reveals right so far", "survival", "whole_prefix_accuracy",
       "whole_prefix_bounds", true},
      {"Cross entropy at each reveal, nats", "cross entropy", "cross_entropy", "", false}};
  std::string out;
  for (const Json* cell : cells) {
    const std::string name = cell_words(*cell);
    const std::vector<std::string> axes = cell_axes(*cell);
    const bool inputs = !axes.empty() && axes.front() == "length";
    std::string charts;
    for (const Kind& kind : kinds) {
      PageChart chart = chart_over(
          kind.title, inputs ? "inputs read" : "commands read",
          std::string(kind.key) == "accuracy" ? common_chance(groups, name) : std::nan(""));
      chart.y_label = kind.y_label;
      if (!axes.empty()) chart.lines = trained_marks(groups, axes.front());
      chart.lines_at_foot = kind.share;  // accuracies are at the top, cross entropies at the foot
      if (!kind.share) chart.y_most = 0;
      int colour = 0;
      for (const RunGroup& group : groups) {
        chart.curves.push_back(by_position(group, name, kind.key, kind.bounds));
        chart.curves.back().colour = colour++;
        if (groups.size() == 1) chart.curves.back().curve.name = "";
      }
      if (!kind.share) {
        PageCurve best = by_position(groups[0], name, "bayes_cross_entropy", "");
        best.curve.name = "the exact belief";
        best.colour = colour;
        const bool certain = std::ranges::all_of(best.curve.y, [](double y) { return y == 0; });
        if (!certain && groups.size() == 1) chart.curves[0].curve.name = groups[0].name;
        if (!certain) chart.curves.push_back(std::move(best));
      }
      charts += chart.figure();
    }
    if (charts.empty()) continue;
    out += folded("By reveal: " + name, "<div class=\"charts\">\n" + charts + "</div>\n",
                  cell == cells.front());
  }
  return out;
}

std::string words(std::string key) {
  std::ranges::replace(key, '_', ' ');
  return key;
}

// The keys of cells that have plain values, in their order.
std::vector<std::string> measures_of(const std::vector<const Json*>& cells) {
  std::vector<std::string> keys;
  for (const Json* cell : cells) {
    for (const auto& [key, value] : cell->items()) {
      if (value.is_structured() || is_cell_axis(*cell, key)) continue;
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  return keys;
}

// Mean and deviation over a configuration's runs, a row for each measure.
std::string means_table(const RunGroup& group, const std::vector<const Json*>& cells) {
  PageTable table{fmt::format("{}: mean ± sample standard deviation over {} runs", group.name,
                              group.runs.size()),
                  {"measure"}};
  std::vector<const Json*> own;
  for (const Json* cell : cells) {
    const std::string name = cell_words(*cell);
    if (std::ranges::any_of(group.runs, [&](const auto* run) { return cell_of(*run, name); }))
      own.push_back(cell);
  }
  for (const Json* cell : own) table.head.push_back(cell_words(*cell));
  for (const std::string& key : measures_of(own)) {
    std::vector<PageCell> row = {{words(key)}};
    bool any = false;
    for (const Json* cell : own) {
      const auto values = values_of(group, cell_words(*cell), key);
      any = any || !values.empty();
      row.push_back(spread_cell(values));
    }
    if (any) table.rows.push_back(row);
  }
  return table.html();
}

// Every measure of one run, with its bounds; evaluation seeds below, if there are several.
std::string run_tables(const RunGroup& group, const RunRecord& run) {
  std::vector<const Json*> cells;
  for (const Json& cell : run.evaluation) cells.push_back(&cell);
  PageTable table{fmt::format("{}: every measure", run_name(group, run)), {"measure"}};
  for (const Json* cell : cells) table.head.push_back(cell_words(*cell));
  for (const std::string& key : measures_of(cells)) {
    std::vector<PageCell> row = {{words(key)}}, bounds = {{words(key) + ", bounds"}};
    bool bounded = false;
    for (const Json* cell : cells) {
      row.push_back(cell->contains(key) ? value_cell((*cell)[key]) : PageCell{"-"});
      const bool has = cell->contains("bounds") && (*cell)["bounds"].is_object() &&
                       (*cell)["bounds"].contains(key);
      bounds.push_back(has ? value_cell((*cell)["bounds"][key]) : PageCell{"-"});
      bounded = bounded || has;
    }
    table.rows.push_back(row);
    if (bounded) table.rows.push_back(bounds);
  }
  std::string out = table.html();
  for (const Json* cell : cells) {
    if (!cell->contains("seeds") || !(*cell)["seeds"].is_array() || (*cell)["seeds"].size() < 2)
      continue;
    out += table_of(fmt::format("{}, {}: each seed of the evaluation", run_name(group, run),
                                cell_words(*cell)),
                    (*cell)["seeds"])
               .html();
  }
  return out;
}

}  // namespace

std::string evaluation_section(const std::vector<RunGroup>& groups) {
  const std::vector<const Json*> cells = cells_of(groups);
  if (cells.empty()) return "";
  std::string out = trained_lines(groups) + accuracy_table(groups, cells);
  if (const std::string line = line_along(groups, cells); !line.empty())
    out += "<div class=\"charts\">\n" + line + "</div>\n";
  out += heat_maps(groups, cells);
  out += position_charts(groups, cells);
  out +=
      "<p class=\"note\">Bands: from the least to the most of a configuration's runs; of a single "
      "run, exact bounds of the measurement. A table's cell shows its exact value on "
      "hovering.</p>\n";
  out += "<h3>All measures</h3>\n";
  bool first = true;
  for (const RunGroup& group : groups) {
    if (group.runs.size() > 1)
      out += folded(group.name + ": over seeds", means_table(group, cells), first);
    for (const RunRecord* run : group.runs) {
      if (!run->evaluation.is_array() || run->evaluation.empty()) continue;
      out +=
          folded(run_name(group, *run), run_tables(group, *run), first && group.runs.size() == 1);
    }
    first = false;
  }
  return out;
}

}  // namespace shellgame
