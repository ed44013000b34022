// The form for people: a table of cells, the course of a single one, and traces that are shown.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shellgame/evaluate/cell.h"

namespace shellgame {
namespace {

// A table whose columns are as wide as their widest entry.
class Table {
 public:
  explicit Table(std::vector<std::string> titles) { rows_.push_back(std::move(titles)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const auto& row : rows_) {
      std::string line;
      for (std::size_t i = 0; i < row.size(); ++i) {
        // Numbers to the right; words and bars, which come last, to the left.
        const bool last = i + 1 == row.size() && i > 0;
        line +=
            last ? "  " + row[i] : fmt::format("{}{:>{}}", i > 0 ? "  " : "", row[i], widths[i]);
      }
      while (line.ends_with(' ')) line.pop_back();
      text += line + "\n";
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

// The metrics that have a column, in the order of the columns.
std::vector<const Metric*> columns_of(bool beliefs) {
  std::vector<const Metric*> columns;
  for (const Metric& metric : evaluation_metrics()) {
    if (metric.column != nullptr && (beliefs || !metric.of_belief)) columns.push_back(&metric);
  }
  const auto place = [](const Metric* one) { return one->comes_last ? 2 : one->of_belief ? 1 : 0; };
  std::ranges::stable_sort(columns, {}, place);
  return columns;
}

bool shows_beliefs(const EvaluationCell& cell) {
  return cell.has_beliefs && cell.all.mean.bayes_cross_entropy > 0;
}

std::string cells_text(const EvaluationReport& report) {
  const std::vector<const Metric*> columns =
      columns_of(std::ranges::any_of(report.cells, shows_beliefs));
  const bool several = std::ranges::any_of(
      report.cells, [](const EvaluationCell& cell) { return cell.seeds.size() > 1; });
  const std::vector<std::string> axes = axis_names(report);
  // The first column has the spread over seeds, and the values that it comes from at the end.
  std::vector<std::string> titles = axes;
  for (const Metric* metric : columns) {
    titles.emplace_back(metric->column);
    if (metric->bounded.in_text) titles.emplace_back("bounds");
    if (several && metric == columns.front()) titles.emplace_back("spread");
  }
  if (several) titles.emplace_back(fmt::format("{} of each seed", columns.front()->column));
  Table table(titles);
  for (const EvaluationCell& cell : report.cells) {
    std::vector<std::string> row = axis_values(cell, axes);
    for (const Metric* metric : columns) {
      const auto value = metric->get(cell, cell.all);
      row.push_back(value ? metric->text(cell.all, *value) : "-");
      if (metric->bounded.in_text) {
        const auto bounds = metric->bounds(cell, cell.all);
        row.push_back(bounds ? metric->bounds_text(*bounds) : "-");
      }
      if (several && metric == columns.front())
        row.push_back(fmt::format("{:.4f}", spread_of(values_by_seed(cell, *metric)).deviation));
    }
    if (several) {
      std::string texts;
      for (const SeedResult& seed : cell.seeds) {
        const auto value = columns.front()->get(cell, seed.statistics);
        texts += (texts.empty() ? "" : " ") + columns.front()->text(seed.statistics, *value);
      }
      row.push_back(texts);
    }
    table.add(std::move(row));
  }
  return table.text();
}

std::string positions_text(const EvaluationCell& cell) {
  std::vector<const Measure*> measures;
  for (const Measure& measure : kMeasures) {
    if (measure.at_positions == Measure::AtPositions::kText &&
        (!measure.of_belief || shows_beliefs(cell)))
      measures.push_back(&measure);
  }
  std::vector<std::string> titles = {"reveal", "command", "accuracy", "bounds", "whole"};
  for (const Measure* measure : measures) titles.emplace_back(measure->column);
  titles.emplace_back("");
  Table table(titles);
  for (const PositionGroup& group : cell.few_positions) {
    std::vector<std::string> row = {
        group.first == group.last ? fmt::format("{}", group.first)
                                  : fmt::format("{}-{}", group.first, group.last),
        fmt::format("{:.0f}", group.command), share_text(group.accuracy.value),
        share_bounds_text(group.accuracy.bounds), share_text(group.whole_prefix.value)};
    for (const Measure* measure : measures) {
      const auto value = cell.value_of(*measure, group.mean);
      row.push_back(value ? measure_text(*measure, *value) : "-");
    }
    constexpr int kWidth = 24;
    const int filled = static_cast<int>(group.accuracy.value * kWidth);
    row.push_back(fmt::format("|{:#<{}}{: <{}}|", "", filled, "", kWidth - filled));
    table.add(std::move(row));
  }
  return table.text();
}

// A long trace shows its beginning and what lies around its first error.
bool is_shown(std::size_t at, std::size_t error, std::size_t count) {
  constexpr std::size_t kWhole = 64, kBegin = 16, kAround = 8;
  return count <= kWhole || at < kBegin || (at + kAround >= error && at <= error + kAround) ||
         at + 1 == count;
}

std::string shown_text(const ShownTrace& trace) {
  const auto wrong = std::ranges::count(trace.lines, false, &ShownLine::right);
  const auto first = std::ranges::find(trace.lines, false, &ShownLine::right);
  const auto error = static_cast<std::size_t>(first - trace.lines.begin());
  std::string text = fmt::format("\ntrace {} of seed {}: {} reveals, {} wrong\n", trace.index,
                                 trace.seed, trace.lines.size(), wrong);
  Table table({"command", "variable", "predicted", "true", "p(true)", "Bayes", "p(Bayes)", ""});
  bool gap = false;
  for (std::size_t i = 0; i < trace.lines.size(); ++i) {
    const ShownLine& line = trace.lines[i];
    if (!is_shown(i, error, trace.lines.size())) {
      if (!gap) table.add({"...", "", "", "", "", "", "", ""});
      gap = true;
      continue;
    }
    gap = false;
    table.add({fmt::format("{}", line.command), line.variable, line.chosen, line.truth,
               fmt::format("{:.4f}", line.probability), line.bayes.empty() ? "-" : line.bayes,
               line.bayes.empty() ? "-" : fmt::format("{:.4f}", line.bayes_probability),
               line.right   ? ""
               : i == error ? "<- first error"
                            : "<- error"});
  }
  return text + table.text();
}

// "S_3 swaps", or, where cells are of several tasks, all of them.
std::string task_text(const EvaluationReport& report) {
  std::vector<std::string> names;
  for (const EvaluationCell& cell : report.cells) {
    if (std::ranges::find(names, cell.task) == names.end()) names.push_back(cell.task);
  }
  return fmt::format("{}", fmt::join(names, "; "));
}

// The traces that each cell really had: a schedule may have fewer than were asked for.
std::string traces_text(const EvaluationReport& report) {
  std::uint64_t least = report.count, most = 0;
  for (const EvaluationCell& cell : report.cells) {
    for (const SeedResult& seed : cell.seeds) {
      least = std::min(least, seed.statistics.traces);
      most = std::max(most, seed.statistics.traces);
    }
  }
  if (most == 0) most = report.count;
  return fmt::format("{}{} trace{} a seed", least < most ? fmt::format("{} to ", least) : "", most,
                     most == 1 ? "" : "s");
}

}  // namespace

std::string to_text(const EvaluationReport& report) {
  std::string text = fmt::format("{}\n{}, {}, {}, {}", report.model, task_text(report),
                                 report.mode == "free" ? "free-running" : "teacher-forced",
                                 report.precision, traces_text(report));
  if (!report.cells.empty()) {
    const auto most = std::ranges::max_element(
        report.cells, {}, [](const EvaluationCell& cell) { return cell.seeds.size(); });
    text += most->seeds.size() > 1 ? ", seeds" : ", seed";
    for (const SeedResult& seed : most->seeds) text += fmt::format(" {}", seed.seed);
    text += fmt::format("; chance {:.4g}, bounds {:.4g} %", report.cells.front().all.chance,
                        100 * report.confidence);
  }
  if (report.trained && report.trained->longest > 0) text += "\n" + trained_words(*report.trained);
  text += "\n\n" + cells_text(report);
  if (report.cells.size() == 1) text += "\n" + positions_text(report.cells.front());
  for (const EvaluationCell& cell : report.cells) {
    if (cell.shown.empty()) continue;
    if (report.cells.size() > 1) text += fmt::format("\n{}:", axes_words(cell.axes));
    for (const ShownTrace& trace : cell.shown) text += shown_text(trace);
  }
  std::uint64_t tokens = 0;
  for (const EvaluationCell& cell : report.cells) tokens += cell.tokens;
  text += fmt::format("\n{} tokens in {:.1f} s, {:.0f} a second", tokens, report.seconds,
                      report.seconds > 0 ? static_cast<double>(tokens) / report.seconds : 0.0);
  if (report.peak_memory > 0) {
    text += fmt::format("; peak memory {:.0f} MiB",
                        static_cast<double>(report.peak_memory) / (1 << 20));
  }
  text += "\n";
  for (const std::string& note : report.notes) text += "\nnote: " + note + "\n";
  return text;
}

}  // namespace shellgame
