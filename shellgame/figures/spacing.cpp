// The paper's figure on Transformers: accuracy against the spacing of reveals that they were
// trained and judged with, for swaps and for full permutations: a model for each spacing, or one
// that was trained with all of them. Other architectures that were trained so stand beside them.
#include <fmt/format.h>

#include <map>

#include "shellgame/figures/figure.h"
#include "shellgame/figures/sources.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

struct SpacingPoint {
  const Measured* from;
  const MeasuredCell* cell;
};
struct SpacingCurve {
  std::map<std::uint64_t, SpacingPoint> by_spacing;
};
using SpacingCurves = std::map<std::pair<std::string, std::string>, SpacingCurve>;  // label, moves

// All of one experiment that were trained with several spacings, Transformers among them.
SpacingCurves curves_of(const std::vector<Measured>& all) {
  std::map<std::string, SpacingCurves> by_experiment;
  for (const Measured& one : all) {
    SpacingCurves& curves = by_experiment[one.experiment + " " + one.group];
    for (const std::uint64_t spacing : one.spacings) {
      const auto cell = one.cells.find({one.trained.first, spacing});
      if (cell != one.cells.end())
        curves[{one.label, one.moves}].by_spacing[spacing] = {&one, &cell->second};
    }
  }
  SpacingCurves best;
  std::size_t most = 0;
  for (auto& [experiment, curves] : by_experiment) {
    std::erase_if(curves, [](const auto& item) { return item.second.by_spacing.size() < 2; });
    std::size_t points = 0;
    bool transformer = false;
    for (const auto& [name, curve] : curves) {
      points += curve.by_spacing.size();
      transformer = transformer || name.first == "Transformer";
    }
    if (transformer && points > most) {
      most = points;
      best = curves;
    }
  }
  return best;
}

}  // namespace

Figure spacing_figure(FigureSources& sources) {
  std::vector<Measured> own;
  SpacingCurves curves = curves_of(sources.found());
  if (curves.empty()) {
    own = sources.trained(SmallExperiment::kSpacing);
    curves = curves_of(own);
  }
  if (curves.empty()) fail("no results of Transformers have several spacings");
  const Measured& any = *curves.begin()->second.by_spacing.begin()->second.from;
  Figure figure{.canvas = Canvas(kFigureWidth, 240),
                .table = CsvTable({"architecture", "moves", "spacing", "seed", "accuracy"}),
                .caption = {}};
  std::vector<double> spacings;
  for (const auto& [name, curve] : curves) {
    for (const auto& [spacing, point] : curve.by_spacing)
      spacings.push_back(static_cast<double>(spacing));
  }
  const auto [least, most] = std::ranges::minmax(spacings);
  Axis x{.least = least - 0.3,
         .most = most + 0.3,
         .log = false,
         .label = "reveal spacing (commands)",
         .ticks = {}};
  for (double tick = least; tick <= most; ++tick) x.ticks.push_back({tick, axis_number(tick)});
  Panel panel(figure.canvas, {110, 24, 270, 150}, x, share_axis("accuracy"),
              fmt::format("{}, {} commands", any.group, any.trained.first));
  panel.draw_frame();
  panel.level(chance_of(any));
  std::vector<LegendEntry> legend;
  std::vector<Measured> used;
  for (const auto& [name, curve] : curves) {
    const auto& [label, moves] = name;
    Series series;
    for (const auto& [spacing, point] : curve.by_spacing) {
      const std::vector<double>& values = point.cell->accuracy;
      for (std::size_t s = 0; s < values.size(); ++s)
        figure.table.row({label, moves, static_cast<double>(spacing),
                          static_cast<double>(point.from->seeds.at(s)), values[s]});
      add_point(series, static_cast<double>(spacing), values);
      used.push_back(*point.from);
    }
    SeriesStyle style = style_of(label, 0);
    style.dash = moves == "swaps" ? "4 2" : "";
    panel.series(series, style, label + ", " + moves);
    legend.push_back(
        {fmt::format("{}, {}", label, moves == "permutations" ? "full permutations" : moves),
         style});
  }
  legend.push_back(level_entry("chance"));
  const double bottom = draw_legend(figure.canvas, 110, 217, 330, legend);
  figure.canvas.set_height(bottom + 2);
  figure.caption = fmt::format(
      "Accuracy of revealed values against the spacing of reveals, models from scratch on {}, {} "
      "commands, {}; bands go from the worst to the best seed. From {}.",
      any.group, any.trained.first,
      any.spacings.size() > 1 ? "each trained with all of these spacings"
                              : "each trained and judged at its spacing",
      origin_of(used));
  return figure;
}

}  // namespace shellgame
