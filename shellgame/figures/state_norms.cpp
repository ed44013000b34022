// What cycles of uncertain commands do to the state: its norm, and how far twins are apart.
#include <fmt/format.h>

#include <cmath>

#include "shellgame/figures/arm_curves.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// Each seed over its own first value.
std::vector<ArmCurve> over_first(std::vector<ArmCurve> curves) {
  for (ArmCurve& curve : curves) {
    const auto first = curve.points.begin()->second;
    for (auto& [x, values] : curve.points) {
      for (std::size_t i = 0; i < values.size() && i < first.size(); ++i)
        values[i].second /= first[i].second;
    }
  }
  return curves;
}

}  // namespace

Figure norms_figure(FigureSources& sources) {
  const std::vector<TableRecord> records = sources.records("k-probe.json");
  const std::vector<std::string> arms = {"DN2", "DN1", "LSTM1", "LSTM2", "GRU1"};
  const auto norms = over_first(arm_curves(records, {}, "cycles", "norm", arms));
  const auto twins = arm_curves(records, {}, "cycles", "twins", arms);
  if (norms.empty() || twins.empty()) fail("'k-probe.json' has no norms and twins of a cycle");
  Figure figure{.canvas = Canvas(kFigureWidth, 240),
                .table = CsvTable({"measure", "arm", "seed", "cycles", "value"}),
                .caption = {}};
  Panel left(figure.canvas, {60, 24, 180, 140}, log_axis(1, 3000, "cycles"),
             linear_axis(0, 2, "over that after one cycle"), "norm of the state");
  left.draw_frame();
  draw_arm_curves(figure, left, norms, {std::string("norm")});
  Panel right(figure.canvas, {286, 24, 180, 140}, log_axis(1, 3000, "cycles"),
              log_axis(1e-8, 10, ""), "distance of twins");
  right.draw_frame();
  draw_arm_curves(figure, right, twins, {std::string("twins")});
  const double bottom = draw_legend(figure.canvas, 60, 206, 406, arm_legend(norms));
  figure.canvas.set_height(bottom + 2);
  figure.caption =
      "Regime K, cycles of uncertain commands (M5): the norm of all that a model remembers, and "
      "the "
      "distance between the states of traces that differ in one token before the cycle, both over "
      "their value after one cycle. Medians over seeds, bands from the least to the largest. From "
      "experiments/uncertainty/k-probe.json.";
  return figure;
}

Figure precision_figure(FigureSources& sources) {
  const std::vector<TableRecord> records = sources.records("k-probe.json");
  const std::pair<const char*, const char*> formats[] = {
      {"miss", "fp32"}, {"miss_fp16", "fp16"}, {"miss_bf16", "bf16"}};
  const char* const arms[] = {"DN2", "DN1", "LSTM1"};
  Figure figure{.canvas = Canvas(kFigureWidth, 200),
                .table = CsvTable({"format", "arm", "seed", "cycles", "miss"}),
                .caption = {}};
  std::vector<LegendEntry> legend;
  for (std::size_t a = 0; a < 3; ++a) {
    Axis y = share_axis(a == 0 ? "probability of the wrong values" : "");
    Panel panel(figure.canvas, {50 + 146 * static_cast<double>(a), 24, 118, 110},
                log_axis(1, 300, "cycles"), y, arms[a]);
    panel.draw_frame();
    for (std::size_t f = 0; f < 3; ++f) {
      const SeriesStyle style{.colour = colour_of(f), .dash = dash_of(f)};
      for (const ArmCurve& curve : arm_curves(records, {}, "cycles", formats[f].first, {arms[a]})) {
        panel.series(curve.series(), style, formats[f].second);
        for (const auto& [x, values] : curve.points) {
          for (const auto& [seed, value] : values)
            figure.table.row(
                {std::string(formats[f].second), curve.arm, static_cast<double>(seed), x, value});
        }
      }
      if (a == 0) legend.push_back({fmt::format("state in {}", formats[f].second), style});
    }
  }
  if (figure.table.rows().empty()) fail("'k-probe.json' has no misses of a cycle");
  const double bottom = draw_legend(figure.canvas, 50, 176, 420, legend);
  figure.canvas.set_height(bottom + 2);
  figure.caption =
      "Regime K, cycles of uncertain commands (M5), question c: only the state is rounded, after "
      "every token. Medians over seeds, bands from the least to the largest. From "
      "experiments/uncertainty/k-probe.json.";
  return figure;
}

}  // namespace shellgame
