// The paper's figure of per-reveal accuracy: each architecture's reveals by their place, over
// seeds, in traces twice as long as the trained ones and with half as many reveals.
#include <fmt/format.h>

#include "shellgame/figures/figure.h"
#include "shellgame/figures/sources.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

Cell2 asked(const Measured& one) { return {2 * one.trained.first, 2 * one.trained.second}; }

bool has_reveals(const Measured& one) {
  const auto cell = one.cells.find(asked(one));
  if (cell == one.cells.end() || cell->second.by_position.empty()) return false;
  for (const auto& seed : cell->second.by_position) {
    if (seed.size() < 2 || seed.size() != cell->second.by_position[0].size()) return false;
  }
  return true;
}

}  // namespace

Figure reveals_figure(FigureSources& sources) {
  const std::vector<Measured> sets = comparison(sources, has_reveals);
  if (sets.empty()) fail("no results have each reveal of traces twice as long as the trained ones");
  const Cell2 cell = asked(sets[0]);
  Figure figure{.canvas = Canvas(kFigureWidth, 236),
                .table = CsvTable({"architecture", "seed", "reveal", "accuracy"}),
                .caption = {}};
  std::size_t places = 2;
  for (const Measured& one : sets)
    places = std::max(places, one.cells.at(asked(one)).by_position[0].size());
  Panel panel(
      figure.canvas, {50, 24, 424, 142},
      linear_axis(0.6, static_cast<double>(places) + 0.4,
                  fmt::format("reveal (one after every {} commands)", cell.second), 8),
      share_axis("accuracy"),
      fmt::format(
          "{}, {} commands, spacing {} (trained: segments of {}, spacing {}, streams to {})",
          sets[0].group, cell.first, cell.second, sets[0].trained.first, sets[0].trained.second,
          std::max(sets[0].stream, sets[0].trained.first)));
  panel.draw_frame();
  panel.level(chance_of(sets[0]));
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const MeasuredCell& measured = sets[i].cells.at(asked(sets[i]));
    Series series;
    for (std::size_t k = 0; k < measured.by_position[0].size(); ++k) {
      std::vector<double> values;
      for (std::size_t s = 0; s < measured.by_position.size(); ++s) {
        values.push_back(measured.by_position[s][k]);
        figure.table.row({sets[i].label, static_cast<double>(sets[i].seeds.at(s)),
                          static_cast<double>(k + 1), values.back()});
      }
      add_point(series, static_cast<double>(k + 1), values);
    }
    const SeriesStyle style = style_of(sets[i].label, i);
    panel.series(series, style, sets[i].label);
    legend.push_back({fmt::format("{} ({} seed{})", sets[i].label, sets[i].seeds.size(),
                                  sets[i].seeds.size() == 1 ? "" : "s"),
                      style});
  }
  legend.push_back(level_entry("chance"));
  const double bottom = draw_legend(figure.canvas, 50, 209, 424, legend);
  figure.canvas.set_height(bottom + 2);
  figure.caption = fmt::format(
      "Accuracy of each reveal by its place, {} permutations, {} commands, a reveal after every "
      "{}; "
      "lines are means over seeds, bands go from the worst to the best. From {}.",
      sets[0].group, cell.first, cell.second, origin_of(sets));
  return figure;
}

}  // namespace shellgame
