// The joint representation's instability: the paper's cycle step by step, and on to the end in
// each number format.
#include <fmt/format.h>

#include "shellgame/automata/example_automata.h"
#include "shellgame/figures/decay_curves.h"
#include "shellgame/report/parts.h"

namespace shellgame {
namespace {

constexpr int kSteps = 4;  // two cycles

void draw_row(Figure& figure, const AutomatonFile& file, const FilterOptions& options,
              const std::string& name, const std::string& state, double y) {
  Canvas& canvas = figure.canvas;
  const bool renormalised = options.kind == FilterKind::kExact;
  const auto filter = make_filter(file.automaton, options);
  const std::string row = name + " " + state;
  canvas.text(10, y + 24, name, {.bold = true});
  canvas.text(10, y + 35, state, {.colour = kGrey});
  const MatrixStyle style{.cell = 18, .colour = renormalised ? kGreen : kVermilion, .size = 7.5};
  constexpr double kStep = 92;
  for (int t = 0; t <= kSteps; ++t) {
    const double x = 72 + kStep * t;
    if (t > 0) {
      const SymbolId symbol = file.word[static_cast<std::size_t>(t - 1) % file.word.size()];
      filter->step(symbol);
      const bool reveals = !file.automaton.symbol(symbol).is_transition_only();
      canvas.arrow(x - kStep + matrix_width(1, style) + 4, y + 27, x - 4, y + 27, {.width = 1});
      const double middle = x - (kStep - matrix_width(1, style)) / 2;
      canvas.text(middle, y + 21, file.automaton.symbol(symbol).name,
                  {.size = 7, .anchor = Anchor::kMiddle});
      if (reveals && renormalised)
        canvas.text(middle, y + 36, "(+ renorm.)",
                    {.size = 7, .colour = kGrey, .anchor = Anchor::kMiddle});
    }
    const std::vector<double> values = renormalised ? filter->belief() : filter->state();
    draw_matrix(canvas, x, y, values, 1, style);
    for (std::size_t i = 0; i < values.size(); ++i)
      figure.table.row(
          {"vector", row, static_cast<double>(t), static_cast<double>(i + 1), "", values[i]});
  }
}

}  // namespace

Figure joint_instability_figure(FigureSources&) {
  const AutomatonFile file = example_automaton("joint-cycle");
  Figure figure{.canvas = Canvas(kFigureWidth, 330),
                .table = CsvTable({"kind", "series", "symbols", "row", "column", "value"}),
                .caption = {}};
  draw_heading(figure.canvas, 10, 14, "(a)",
               "Two cycles of a mix into the absorbing state 1 and a reveal of {2, 3}");
  draw_row(figure, file, {.kind = FilterKind::kLinear}, "Linear RNN", "state h_{t}", 26);
  draw_row(figure, file, {.kind = FilterKind::kExact}, "PFSA-SR", "belief b_{t}", 94);
  draw_heading(figure.canvas, 10, 172, "(b)", "The same, cycle after cycle, in each number format");
  std::vector<DecayCurve> curves = decay_curves(file, FilterKind::kLinear);
  const std::string ends = ends_of(curves);
  curves.push_back(decay_curve(file, {.kind = FilterKind::kExact, .precision = Precision::kFp16},
                               "renormalised, in any format: 1 forever",
                               static_cast<std::uint64_t>(curves[0].mass.x.back())));
  draw_decay(figure, {62, 184, 412, 118}, curves, "mass of the state");
  figure.caption = fmt::format(
      "Joint representation instability, computed by the filters. (a) A linear recurrence carries "
      "the lost mass on, the belief is renormalised after each reveal. (b) Each cycle halves the "
      "mass of h_t; the symbol at which nothing is left: {}.",
      ends);
  return figure;
}

}  // namespace shellgame
