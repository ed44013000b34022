// The paper's figure on Transformers: accuracy against the spacing of reveals that they were
// trained and judged with, for swaps and for full permutations.
#include <fmt/format.h>

#include <map>

#include "shellgame/figures/figure.h"
#include "shellgame/figures/sources.h"
#include "shellgame/system/error.h"

namespace shellgame {
namespace {

struct Curve {
  std::map<std::uint64_t, const Measured*> by_spacing;
};

// Transformers by moves, all of one experiment, trained with several spacings.
std::map<std::string, Curve> curves_of(const std::vector<Measured>& all) {
  std::map<std::string, std::map<std::string, Curve>> by_experiment;
  for (const Measured& one : all) {
    if (one.label != "Transformer" || !one.cells.contains(one.trained)) continue;
    by_experiment[one.experiment + one.group][one.moves].by_spacing[one.trained.second] = &one;
  }
  std::map<std::string, Curve> best;
  std::size_t most = 0;
  for (auto& [experiment, curves] : by_experiment) {
    std::erase_if(curves, [](const auto& item) { return item.second.by_spacing.size() < 2; });
    std::size_t points = 0;
    for (const auto& [moves, curve] : curves) points += curve.by_spacing.size();
    if (points > most) {
      most = points;
      best = curves;
    }
  }
  return best;
}

}  // namespace

Figure spacing_figure(FigureSources& sources) {
  std::vector<Measured> own;
  std::map<std::string, Curve> curves = curves_of(sources.found());
  if (curves.empty()) {
    own = sources.trained(SmallExperiment::kSpacing);
    curves = curves_of(own);
  }
  if (curves.empty()) fail("no results of Transformers have several spacings");
  const Measured& any = *curves.begin()->second.by_spacing.begin()->second;
  Figure figure{.canvas = Canvas(kFigureWidth, 240),
                .table = CsvTable({"moves", "spacing", "seed", "accuracy"}),
                .caption = {}};
  std::vector<double> spacings;
  for (const auto& [moves, curve] : curves) {
    for (const auto& [spacing, one] : curve.by_spacing)
      spacings.push_back(static_cast<double>(spacing));
  }
  const auto [least, most] = std::ranges::minmax(spacings);
  Axis x{.least = least - 0.3,
         .most = most + 0.3,
         .log = false,
         .label = "reveal spacing (commands)",
         .ticks = {}};
  for (double tick = least; tick <= most; ++tick) x.ticks.push_back({tick, short_number(tick)});
  Panel panel(figure.canvas, {110, 24, 270, 150}, x, share_axis("accuracy"),
              fmt::format("Transformer, {}, {} commands", any.group, any.trained.first));
  panel.draw_frame();
  panel.level(chance_of(any));
  std::vector<LegendEntry> legend;
  std::vector<Measured> used;
  std::size_t i = 0;
  for (const auto& [moves, curve] : curves) {
    Series series;
    for (const auto& [spacing, one] : curve.by_spacing) {
      const std::vector<double>& values = one->cells.at(one->trained).accuracy;
      for (std::size_t s = 0; s < values.size(); ++s)
        figure.table.row({moves, static_cast<double>(spacing),
                          static_cast<double>(one->seeds.at(s)), values[s]});
      add_point(series, static_cast<double>(spacing), values);
      used.push_back(*one);
    }
    const SeriesStyle style{.colour = i == 0 ? kVermilion : kBlue, .dash = i == 0 ? "5 2" : ""};
    panel.series(series, style, moves);
    legend.push_back({moves == "permutations" ? "full permutations" : moves, style});
    ++i;
  }
  legend.push_back(level_entry("chance"));
  const double bottom = draw_legend(figure.canvas, 130, 217, 300, legend);
  figure.canvas.set_height(bottom + 2);
  figure.caption = fmt::format(
      "Accuracy of revealed values against the spacing of reveals, Transformers from scratch on "
      "{}, "
      "{} commands, {} parameters, each trained and judged at its spacing; bands go from the worst "
      "to the best seed. From {}.",
      any.group, any.trained.first, any.parameters, origin_of(used));
  return figure;
}

}  // namespace shellgame
