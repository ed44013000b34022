#include "shellgame/figures/decay_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shellgame/system/error.h"

namespace shellgame {

DecayCurve decay_curve(const AutomatonFile& file, const FilterOptions& options,
                       const std::string& name, std::uint64_t most) {
  DecayCurve curve{.name = name, .mass = {}, .vanished = 0};
  const auto filter = make_filter(file.automaton, options);
  const auto keep = [&](std::uint64_t step, double mass) {
    curve.mass.x.push_back(static_cast<double>(step));
    curve.mass.y.push_back(mass);
  };
  // Of renormalised filters the mass is that of the belief, not of the evidence so far.
  const bool linear = options.kind == FilterKind::kLinear || options.kind == FilterKind::kMarginal;
  const auto mass = [&] { return linear ? std::exp(filter->log_norm()) : 1.0; };
  keep(0, mass());
  for (std::uint64_t step = 1; step <= most; ++step) {
    try {
      filter->step(file.word[(step - 1) % file.word.size()]);
    } catch (const ZeroEvidence&) {
      curve.vanished = step;
      return curve;
    }
    if (const double left = mass(); left > 0) {
      keep(step, left);
    } else {
      curve.vanished = step;
      return curve;
    }
  }
  return curve;
}

void draw_decay(Figure& figure, const Box& inner, const std::vector<DecayCurve>& curves,
                const std::string& y_label) {
  double last = 1;
  for (const DecayCurve& curve : curves) last = std::max(last, curve.mass.x.back());
  Panel panel(figure.canvas, inner, linear_axis(0, last * 1.12, "symbols read", 7),
              log_axis(1e-48, 1e3, y_label));
  panel.draw_frame();
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const DecayCurve& curve = curves[i];
    const std::string colour = curve.vanished == 0 ? kGreen : colour_of(i == 2 ? 3 : i);
    panel.series(curve.mass,
                 {.colour = colour, .width = curve.vanished == 0 ? 1.6 : 1.2, .markers = false},
                 curve.name);
    for (std::size_t k = 0; k < curve.mass.x.size(); ++k)
      figure.table.row({"curve", curve.name, curve.mass.x[k], "", "", curve.mass.y[k]});
    const double x = panel.across(curve.mass.x.back()), y = panel.up(curve.mass.y.back());
    if (curve.vanished == 0) {
      figure.canvas.text(panel.inner().right() - 2, panel.up(curve.mass.y.back()) - 4, curve.name,
                         {.size = 7, .colour = colour, .anchor = Anchor::kEnd});
      continue;
    }
    figure.canvas.circle(x, y, 2.4, colour, fmt::format("{} {}", curve.name, curve.vanished));
    figure.canvas.text(x + 5, y + 2.5,
                       fmt::format("{}: nothing left at {}", curve.name, curve.vanished),
                       {.size = 7, .colour = colour});
  }
}

}  // namespace shellgame
