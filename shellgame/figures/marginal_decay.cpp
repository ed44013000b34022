// The marginal representation's decay: the paper's adversarial cycle step by step, on to the end
// in each number format, and with the other element revealed now and then.
#include <fmt/format.h>

#include "shellgame/automata/example_automata.h"
#include "shellgame/figures/decay_curves.h"
#include "shellgame/report/parts.h"

namespace shellgame {
namespace {

constexpr std::size_t n = 3;
constexpr int kSteps = 5;
constexpr std::uint64_t kReplenished = 20;  // cycles; fp16 survives up to 24 without

void draw_steps(Figure& figure, const AutomatonFile& file, double y) {
  const auto filter = make_filter(file.automaton, {.kind = FilterKind::kMarginal});
  MatrixStyle style{.cell = 16, .size = 6.5};
  constexpr double kStep = 83;
  for (int t = 0; t <= kSteps; ++t) {
    const double x = 8 + kStep * t;
    if (t > 0) {
      const SymbolId symbol = file.word[static_cast<std::size_t>(t - 1) % file.word.size()];
      filter->step(symbol);
      const bool reveals = !file.automaton.symbol(symbol).is_transition_only();
      figure.canvas.arrow(x - kStep + matrix_width(n, style) + 3, y + 24, x - 3, y + 24,
                          {.width = 1});
      figure.canvas.text(x - (kStep - matrix_width(n, style)) / 2, y + 18,
                         reveals ? "R(2,2)" : "2 ↔ 3 ?", {.size = 6.5, .anchor = Anchor::kMiddle});
      style.marked.clear();
      if (reveals) style.marked[{1, 1}] = kGreen;
      style.marked[{2, 2}] = kVermilion;
      if (!reveals) style.marked[{1, 2}] = kVermilion;
    }
    const std::vector<double> values = filter->state();
    const Box box = draw_matrix(figure.canvas, x, y, values, n, style);
    figure.canvas.text(box.middle(), box.bottom() + 12, fmt::format("H_{{{}}}", t),
                       {.size = 9, .anchor = Anchor::kMiddle});
    for (std::size_t i = 0; i < n * n; ++i)
      figure.table.row({"matrix", fmt::format("H_{}", t), static_cast<double>(t),
                        static_cast<double>(i / n + 1), static_cast<double>(i % n + 1), values[i]});
  }
}

}  // namespace

Figure marginal_decay_figure(FigureSources&) {
  const AutomatonFile file = example_automaton("marginal-cycle");
  Figure figure{.canvas = Canvas(kFigureWidth, 258),
                .table = CsvTable({"kind", "series", "symbols", "row", "column", "value"}),
                .caption = {}};
  draw_heading(figure.canvas, 10, 14, "(a)",
               "A swap of elements 2 and 3 that may have happened, then the reveal R(2,2)");
  draw_steps(figure, file, 26);
  draw_heading(figure.canvas, 10, 110, "(b)",
               "The same, cycle after cycle: the smallest sum of a row or column of H_{t}");
  std::vector<DecayCurve> curves = decay_curves(file, FilterKind::kMarginal);
  const std::string ends = ends_of(curves);
  curves.push_back(decay_curve(
      example_automaton("replenished-cycle", kReplenished),
      {.kind = FilterKind::kMarginal, .precision = Precision::kFp16},
      fmt::format("fp16, element 3 revealed in every {}th cycle: lives on", kReplenished),
      static_cast<std::uint64_t>(curves[0].mass.x.back())));
  draw_decay(figure, {62, 122, 412, 108}, curves, "smallest sum");
  figure.caption = fmt::format(
      "Decay of the marginal state, computed by the marginal filter. (a) The reveal resets the "
      "revealed entry to 1 and halves what is left of element 3. (b) The symbol at which nothing "
      "is left of a row or column: {}; revealed in every {}th cycle, element 3 never vanishes in "
      "fp16.",
      ends, kReplenished);
  return figure;
}

}  // namespace shellgame
