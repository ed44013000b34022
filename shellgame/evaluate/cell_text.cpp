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

// Four digits, and never 1 or 0 for what only rounds to it.
std::string share_text(double value) {
  if (value < 1 && value >= 0.99995) return fmt::format("{:.6f}", value);
  return fmt::format("{:.4f}", value);
}
std::string bounds_text(const Share& share) {
  return fmt::format("{:.3f}-{:.3f}", share.bounds.low, share.bounds.high);
}
std::string nats_text(double value) {
  return value != 0 && value < 5e-5 ? fmt::format("{:.0e}", value) : fmt::format("{:.4f}", value);
}

std::string cells_text(const EvaluationReport& report) {
  const bool beliefs = std::ranges::any_of(report.cells, [](const EvaluationCell& cell) {
    return cell.has_beliefs && cell.all.bayes_cross_entropy > 0;
  });
  const bool several = std::ranges::any_of(
      report.cells, [](const EvaluationCell& cell) { return cell.seeds.size() > 1; });
  const std::vector<std::string> axes = axis_names(report);
  std::vector<std::string> titles = axes;
  for (const char* title : {"accuracy", "bounds"}) titles.emplace_back(title);
  if (several) titles.emplace_back("spread");
  for (const char* title :
       {"final", "bounds", "last 1/4", "last 1/8", "whole", "scaled", "nats", "outside"}) {
    titles.emplace_back(title);
  }
  if (beliefs) {
    for (const char* title : {"Bayes", "regret", "bounds", "best", "agrees"})
      titles.emplace_back(title);
  }
  titles.emplace_back("first failure");
  if (several) titles.emplace_back("accuracy of each seed");
  Table table(titles);
  for (const EvaluationCell& cell : report.cells) {
    const Statistics& all = cell.all;
    std::vector<std::string> row = axis_values(cell, axes);
    row.push_back(share_text(all.accuracy.value));
    row.push_back(bounds_text(all.accuracy));
    std::vector<double> each;
    for (const SeedResult& seed : cell.seeds) each.push_back(seed.statistics.accuracy.value);
    if (several) row.push_back(fmt::format("{:.4f}", spread_of(each).deviation));
    row.push_back(share_text(all.final_accuracy.value));
    row.push_back(bounds_text(all.final_accuracy));
    row.push_back(share_text(all.last_quarter_accuracy.value));
    row.push_back(share_text(all.last_eighth_accuracy.value));
    row.push_back(share_text(all.whole_prefix_accuracy.value));
    row.push_back(share_text(all.scaled_accuracy));
    row.push_back(nats_text(all.cross_entropy));
    row.push_back(nats_text(all.outside));
    if (beliefs) {
      row.push_back(cell.has_beliefs ? nats_text(all.bayes_cross_entropy) : "-");
      row.push_back(cell.has_beliefs ? nats_text(all.regret) : "-");
      row.push_back(cell.has_beliefs ? fmt::format("{}-{}", nats_text(all.regret_bounds.low),
                                                   nats_text(all.regret_bounds.high))
                                     : "-");
      row.push_back(cell.has_beliefs ? share_text(all.expected_bayes_accuracy) : "-");
      row.push_back(cell.has_beliefs ? share_text(all.bayes_agreement) : "-");
    }
    const bool none = all.whole_prefix_accuracy.right == all.whole_prefix_accuracy.of;
    row.push_back(none ? "none" : fmt::format("{:.1f}", all.first_failure_mean));
    if (several) {
      std::string texts;
      for (const double value : each) texts += (texts.empty() ? "" : " ") + share_text(value);
      row.push_back(texts);
    }
    table.add(std::move(row));
  }
  return table.text();
}

std::string positions_text(const EvaluationCell& cell) {
  const bool beliefs = cell.has_beliefs && cell.all.bayes_cross_entropy > 0;
  std::vector<std::string> titles = {"reveal", "command", "accuracy", "bounds", "whole", "nats"};
  if (beliefs) titles.emplace_back("Bayes");
  titles.emplace_back("");
  Table table(titles);
  for (const PositionGroup& group : cell.few_positions) {
    std::vector<std::string> row = {group.first == group.last
                                        ? fmt::format("{}", group.first)
                                        : fmt::format("{}-{}", group.first, group.last),
                                    fmt::format("{:.0f}", group.command),
                                    share_text(group.accuracy.value),
                                    bounds_text(group.accuracy),
                                    share_text(group.whole_prefix.value),
                                    nats_text(group.cross_entropy)};
    if (beliefs) row.push_back(nats_text(group.bayes_cross_entropy));
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

// Of each seed: "12", or "2 to 12" where cells differ.
std::string counts_text(const EvaluationReport& report) {
  std::uint64_t least = report.count;
  for (const EvaluationCell& cell : report.cells) {
    for (const SeedResult& seed : cell.seeds)
      least = std::min<std::uint64_t>(least, seed.statistics.traces);
  }
  return least == report.count ? fmt::format("{}", least)
                               : fmt::format("{} to {}", least, report.count);
}

}  // namespace

std::string to_text(const EvaluationReport& report) {
  std::string text =
      fmt::format("{}\n{}, {}, {}, {} trace{} a seed", report.model, task_text(report),
                  report.mode == "free" ? "free-running" : "teacher-forced", report.precision,
                  counts_text(report), report.count == 1 ? "" : "s");
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
