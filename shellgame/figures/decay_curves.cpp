#include "shellgame/figures/decay_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shellgame/text/error.h"

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
    // A joint state without mass is found by the next evidence; a marginal one cannot be decoded.
    if (const double left = mass(); left > 0) {
      keep(step, left);
    } else if (options.kind == FilterKind::kMarginal) {
      curve.vanished = step;
      return curve;
    }
  }
  return curve;
}

std::vector<DecayCurve> decay_curves(const AutomatonFile& file, FilterKind kind) {
  constexpr std::uint64_t kMostSymbols = 3000;
  std::vector<DecayCurve> curves;
  for (const Precision precision :
       {Precision::kFp32, Precision::kBf16, Precision::kFp16, Precision::kE5m2, Precision::kE4m3})
    curves.push_back(decay_curve(file, {.kind = kind, .precision = precision},
                                 std::string(format_of(precision).name), kMostSymbols));
  return curves;
}

std::string ends_of(const std::vector<DecayCurve>& curves) {
  std::string ends;
  for (const DecayCurve& curve : curves)
    ends += fmt::format("{}{} {}", ends.empty() ? "" : ", ", curve.name, curve.vanished);
  return ends;
}

void draw_decay(Figure& figure, const Box& inner, const std::vector<DecayCurve>& curves,
                const std::string& y_label) {
  double last = 1;
  for (const DecayCurve& curve : curves) last = std::max(last, curve.mass.x.back());
  Canvas& canvas = figure.canvas;
  Panel panel(canvas, inner, linear_axis(0, last * 1.03, "symbols read", 7),
              log_axis(1e-48, 1e8, y_label));
  panel.draw_frame();
  // Those that decay fall along one line, whose lower left side is free for the list of their ends.
  constexpr double kRow = 9.5;
  const double left = inner.x + 12;
  double y = inner.bottom() - 6 - kRow * static_cast<double>(curves.size() - 1);
  const TextStyle heading{.size = 7, .bold = true};
  canvas.rectangle({left - 4, y - 8, Canvas::width_of("nothing is left at symbol", heading) + 8,
                    kRow * static_cast<double>(curves.size() - 1) + 11},
                   "#ffffff");  // over the grid
  canvas.text(left, y, "nothing is left at symbol", heading);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const DecayCurve& curve = curves[i];
    for (std::size_t k = 0; k < curve.mass.x.size(); ++k)
      figure.table.row({"curve", curve.name, curve.mass.x[k], "", "", curve.mass.y[k]});
    if (curve.vanished == 0) {
      panel.series(curve.mass, {.colour = kGreen, .width = 1.4, .markers = false}, curve.name);
      canvas.text(inner.right() - 3, inner.y + 7, curve.name,
                  {.size = 7, .bold = true, .colour = kGreen, .anchor = Anchor::kEnd});
      continue;
    }
    constexpr const char* kOrder[] = {kBlue, kVermilion, kPurple, kOrange, kSky};
    const std::string colour = kOrder[i % std::size(kOrder)];
    panel.series(curve.mass, {.colour = colour, .width = 1.2, .markers = false}, curve.name);
    canvas.circle(panel.across(curve.mass.x.back()), panel.up(curve.mass.y.back()), 2.6, colour,
                  fmt::format("{} {}", curve.name, curve.vanished));
    y += kRow;
    canvas.circle(left + 3, y - 2.5, 2.6, colour);
    canvas.text(left + 9, y, curve.name, {.size = 7});
    canvas.text(left + Canvas::width_of("nothing is left at symbol", heading), y,
                fmt::format("{}", curve.vanished), {.size = 7, .anchor = Anchor::kEnd});
  }
}

}  // namespace shellgame
