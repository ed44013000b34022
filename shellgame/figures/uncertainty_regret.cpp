// The experiment under uncertainty: what models lose against the exact belief on uniform traces,
// beside Bayes with a short memory.
#include <fmt/format.h>

#include "shellgame/figures/arm_curves.h"
#include "shellgame/text/error.h"

namespace shellgame {

Figure uncertainty_regret_figure(FigureSources& sources) {
  Figure figure{.canvas = Canvas(kFigureWidth, 240),
                .table = CsvTable({"regime", "arm", "seed", "commands", "regret"}),
                .caption = {}};
  const std::pair<const char*, const char*> regimes[] = {{"U", "u-uniform.json"},
                                                         {"K", "k-uniform.json"}};
  std::vector<ArmCurve> shown;
  double left = 60;
  const auto bounds = arm_curves(sources.records("bounds-uniform.json"), {}, "commands", "regret");
  for (const auto& [name, file] : regimes) {
    const auto curves = arm_curves(sources.records(file), {{"spacing", "1"}}, "commands", "regret",
                                   {"DN2", "DN1", "LSTM1", "LSTM2", "GRU1"});
    if (curves.empty()) fail("'{}' has no regrets of uniform traces", file);
    Panel panel(figure.canvas, {left, 24, 180, 140}, log_axis(24, 3000, "commands"),
                log_axis(1e-4, 1, left < 100 ? "regret, nats" : ""),
                fmt::format("regime {}", name));
    panel.draw_frame();
    draw_arm_curves(figure, panel, curves, {std::string(name)});
    for (const ArmCurve& bound : bounds) {
      const double level = bound.points.begin()->second.front().second;
      if (level > 1e-4) panel.level(level);
    }
    if (shown.size() < curves.size()) shown = curves;
    left += 226;
  }
  std::string levels;
  for (const ArmCurve& bound : bounds) {
    const auto& [commands, values] = *bound.points.begin();
    levels +=
        fmt::format("{}{} {:.4f}", levels.empty() ? "" : ", ", bound.arm, values.front().second);
    figure.table.row({std::string("bound"), bound.arm, 0.0, commands, values.front().second});
  }
  std::vector<LegendEntry> legend = arm_legend(shown);
  legend.push_back(level_entry("Bayes with a short memory, uniform"));
  const double bottom = draw_legend(figure.canvas, 60, 206, 406, legend);
  figure.canvas.set_height(bottom + 2);
  figure.caption = fmt::format(
      "Regret on uniform traces with a print after every command: medians over seeds, bands from "
      "the least to the largest. Lines across: {}. From experiments/uncertainty.",
      levels);
  return figure;
}

}  // namespace shellgame
