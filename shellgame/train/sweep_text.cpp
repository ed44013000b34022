// A sweep's results as the text that `shellgame sweep` prints.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "shellgame/episodes/task_record.h"
#include "shellgame/evaluate/cell_name.h"
#include "shellgame/train/sweep_results.h"
#include "shellgame/train/sweep_statistics.h"

namespace shellgame {
namespace {

std::string entry_text(const SweepEntry& entry) {
  std::string text = entry.settings.empty() ? "as in the file\n"
                                            : fmt::format("{}\n", fmt::join(entry.settings, " "));
  if (!entry.rows.empty()) {
    std::vector<double> seconds, tokens;
    for (const SweepRow& row : entry.rows) {
      seconds.push_back(row.seconds);
      tokens.push_back(static_cast<double>(row.tokens));
    }
    text += fmt::format("  {} parameters; {} seeds; {:.0f} s and {:.1f} million tokens a run\n",
                        entry.rows.back().parameters, entry.rows.size(), sweep_spread(seconds).mean,
                        sweep_spread(tokens).mean / 1e6);
  }
  if (!entry.rows.empty() && !entry.rows[0].cells.empty()) {
    const std::string trained = trained_words(cell_trained(entry.rows[0].cells[0]));
    if (!trained.empty()) text += fmt::format("  {}\n", trained);
  }
  for (std::size_t c = 0; !entry.rows.empty() && c < entry.rows[0].cells.size(); ++c) {
    std::vector<double> values;
    for (const SweepRow& row : entry.rows) {
      if (row.cells.size() > c) values.push_back(row.cells[c].value("accuracy", 0.0));
    }
    const SweepSpread spread = sweep_spread(values);
    text += fmt::format("  {:<14} accuracy {:.4f} ± {:.4f}   [{:.4f}]\n",
                        cell_name(entry.rows[0].cells[c]), spread.mean, spread.deviation,
                        fmt::join(values, ", "));
  }
  for (const SweepFailure& failure : entry.failed)
    text += fmt::format("  seed {} failed: {}\n", failure.seed, failure.why);
  return text;
}

}  // namespace

std::string sweep_text(const SweepResults& results) {
  std::string text;
  for (const SweepEntry& entry : results.entries) text += entry_text(entry);
  if (!results.differences.empty()) {
    text += "These runs were not made alike (differences in the JSON):\n";
    for (const std::string& sentence : results.differences) text += "  " + sentence + "\n";
  }
  return text;
}

}  // namespace shellgame
