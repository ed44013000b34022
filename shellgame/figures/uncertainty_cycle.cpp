// The experiment under uncertainty: how probable the wrong values become, the longer a cycle goes
// on, with nothing moving, with known moves, and with uncertain ones.
#include <fmt/format.h>

#include "shellgame/figures/arm_curves.h"
#include "shellgame/text/error.h"

namespace shellgame {

Figure uncertainty_cycle_figure(FigureSources& sources) {
  const struct {
    const char *file, *name, *what;
  } regimes[] = {{"u-cycle.json", "U", "trained on uniform schedules"},
                 {"k-cycle.json", "K", "trained on such cycles, up to 12 of them"}};
  const std::pair<const char*, const char*> cells[] = {{"Z", "Z: nothing moves"},
                                                       {"D", "D: known moves"},
                                                       {"M5", "M5: p = .5"},
                                                       {"M1", "M1: p = .1"}};
  const std::vector<std::string> arms = {"DN2", "DN1", "LSTM1", "LSTM2", "GRU1"};
  Figure figure{.canvas = Canvas(kFigureWidth, 300),
                .table = CsvTable({"regime", "cell", "arm", "seed", "cycles", "miss"}),
                .caption = {}};
  double top = 34;
  std::vector<ArmCurve> all;
  std::size_t seeds = 0;
  for (const auto& regime : regimes) {
    const std::vector<TableRecord> records = sources.records(regime.file);
    draw_heading(figure.canvas, 34, top - 20, regime.name, regime.what);
    for (std::size_t c = 0; c < 4; ++c) {
      const auto curves =
          arm_curves(records, {{"schedule", cells[c].first}, {"ending", "c"}}, "N", "miss", arms);
      if (curves.empty())
        fail("'{}' has no misses of question c in the cell {}", regime.file, cells[c].first);
      Axis y = share_axis(c == 0 ? "probability of the wrong values" : "");
      if (c > 0) {
        for (Tick& tick : y.ticks) tick.name.clear();
      }
      Panel panel(figure.canvas, {46 + 110 * static_cast<double>(c), top, 98, 80},
                  log_axis(1, 3000, "cycles"), y, cells[c].second);
      panel.draw_frame();
      draw_arm_curves(figure, panel, curves,
                      {std::string(regime.name), std::string(cells[c].first)});
      for (const ArmCurve& curve : curves) seeds = std::max(seeds, curve.seeds());
      if (all.size() < curves.size()) all = curves;
    }
    top += 140;
  }
  const double bottom = draw_legend(figure.canvas, 46, top - 14, 420, arm_legend(all));
  figure.canvas.set_height(bottom + 2);
  figure.caption = fmt::format(
      "Question c, certain by exclusion, after more and more cycles: the probability of the wrong "
      "values. Medians over at most {} seeds, all of them; bands go from the least to the largest. "
      "From experiments/uncertainty/u-cycle.json and k-cycle.json.",
      seeds);
  return figure;
}

}  // namespace shellgame
