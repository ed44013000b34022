// Mixing and reveal of the paper's marginal state, H <- A_l H A_r + B, with the numbers of the
// marginal filter, and what its decoder makes of the result.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shellgame/automata/automaton_file.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/figures/figure.h"
#include "shellgame/report/parts.h"

namespace shellgame {
namespace {

constexpr std::size_t n = 4;
using Matrix = std::vector<double>;

// Two shuffles make an H_t that is not symmetric; then the update that is shown.
AutomatonFile example() {
  return parse_automaton(R"toml(
variables = ["a", "b", "c", "d"]
start = [1, 2, 3, 4]
word = ["before 1", "before 2"]
[symbol."before 1"]
shuffle = "0.5 (), 0.3 (1 2 3), 0.2 (1 4)"
[symbol."before 2"]
shuffle = "0.6 (), 0.4 (2 3 4)"
[symbol.mix]
shuffle = "0.7 (), 0.3 (1 2)(3 4)"
[symbol.reveal]
reveal = { b = 3 }
)toml",
                         "marginal-updates");
}

Matrix permutation_matrix(const Permute& permute) {
  Matrix matrix(n * n);
  for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] = 1;
  for (std::size_t k = 0; k < permute.targets.size(); ++k) {
    matrix[permute.targets[k] * n + permute.targets[k]] = 0;
  }
  for (std::size_t k = 0; k < permute.targets.size(); ++k)
    matrix[permute.targets[k] * n + permute.sources[k]] = 1;
  return matrix;
}

// I without the unit at `at`.
Matrix masked_identity(std::size_t at) {
  Matrix matrix(n * n);
  for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] = i == at ? 0 : 1;
  return matrix;
}

class Row {
 public:
  Row(Figure& figure, double x, double y) : figure_(figure), x_(x), y_(y) {}

  void sign(const std::string& text, double gap = 5) {
    const TextStyle style{.size = 11};
    x_ += gap;
    figure_.canvas.text(x_, y_ + 2 * kCell + 4, text, style);
    x_ += Canvas::width_of(text, style) + gap;
  }
  void matrix(const std::string& part, const std::string& name, const Matrix& values,
              const std::string& colour,
              std::map<std::pair<std::size_t, std::size_t>, std::string> marked = {}) {
    const Box box = draw_matrix(figure_.canvas, x_, y_, values, n,
                                {.cell = kCell, .colour = colour, .size = 6.5, .marked = marked});
    figure_.canvas.text(box.middle(), y_ - 5, name, {.size = 9, .anchor = Anchor::kMiddle});
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j)
        figure_.table.row({part, name, static_cast<double>(i + 1), static_cast<double>(j + 1),
                           values[i * n + j]});
    }
    x_ = box.right();
  }

 private:
  static constexpr double kCell = 18;
  Figure& figure_;
  double x_, y_;
};

}  // namespace

Figure marginal_updates_figure(FigureSources&) {
  const AutomatonFile file = example();
  const auto filter_before = [&] {
    auto filter = make_filter(file.automaton, {.kind = FilterKind::kMarginal});
    for (const SymbolId symbol : file.word) filter->step(symbol);
    return filter;
  };
  const SymbolId mix = *file.automaton.find_symbol("mix"),
                 reveal = *file.automaton.find_symbol("reveal");
  const auto mixing = filter_before(), revealing = filter_before();
  const Matrix before = mixing->state();
  mixing->step(mix);
  revealing->step(reveal);
  const auto& shuffle = std::get<Shuffle>(file.automaton.symbol(mix).transition);
  const Cell& cell = std::get<Cells>(file.automaton.symbol(reveal).reveal).cells[0];
  const std::size_t row = cell.variable, column = cell.values[0];

  Figure figure{.canvas = Canvas(kFigureWidth, 358),
                .table = CsvTable({"part", "matrix", "row", "column", "value"}),
                .caption = {}};
  draw_heading(figure.canvas, 10, 14, "(a)", "Mixing: a convex combination of permutations");
  Row a(figure, 10, 34);
  a.matrix("mixing", "H_{t+1}", mixing->state(), kBlue);
  a.sign("=");
  for (std::size_t k = 0; k < shuffle.outcomes.size(); ++k) {
    a.sign(fmt::format("{}{} ·", k == 0 ? "( " : "+ ", to_string(shuffle.weights[k])), 3);
    a.matrix("mixing", fmt::format("P_{{{}}}", k + 1), permutation_matrix(shuffle.outcomes[k]),
             kVermilion);
  }
  a.sign(")", 3);
  a.matrix("mixing", "H_{t}", before, kBlue);

  draw_heading(figure.canvas, 10, 134, "(b)",
               fmt::format("Reveal: position {} contains element {}", row + 1, column + 1));
  Row b(figure, 10, 154);
  std::map<std::pair<std::size_t, std::size_t>, std::string> certain = {{{row, column}, kPurple}};
  Matrix injected(n * n);
  injected[row * n + column] = 1;
  b.matrix("reveal", "H_{t+1}", revealing->state(), kBlue, certain);
  b.sign("=");
  b.matrix("reveal", "D_{l}", masked_identity(row), "#555555");
  b.sign("·", 3);
  b.matrix("reveal", "H_{t}", before, kBlue);
  b.sign("·", 3);
  b.matrix("reveal", "D_{r}", masked_identity(column), "#555555");
  b.sign("+");
  b.matrix("reveal", "B", injected, kBlue, certain);

  const auto joint = make_filter(file.automaton);
  for (const SymbolId symbol : file.word) joint->step(symbol);
  joint->step(reveal);
  const Matrix decoded = revealing->marginals(), exact = joint->marginals();
  double worst = 0;
  for (std::size_t i = 0; i < n * n; ++i) worst = std::max(worst, std::abs(decoded[i] - exact[i]));
  draw_heading(figure.canvas, 10, 254, "(c)", "Decoded by Sinkhorn-Knopp, beside the exact belief");
  Row c(figure, 10, 276);
  c.matrix("decoded", "H_{t+1}", revealing->state(), kBlue, certain);
  c.sign("→");
  c.matrix("decoded", "decoded", decoded, kGreen);
  c.sign("≠", 7);
  c.matrix("decoded", "exact (joint)", exact, kGreen);
  draw_paragraph(
      figure.canvas, 344, 300, 130,
      fmt::format("Rows and columns of H_{{t+1}} no longer sum to 1. The decoder restores "
                  "that, but marginals do not know which values go together: the largest "
                  "difference from the exact belief is {:.3f}.",
                  worst),
      {.size = 7.5});
  figure.caption = fmt::format(
      "Updates of the marginal state (rows are positions, columns elements), computed by the "
      "marginal filter. (a) Mixing applies a convex combination of permutation matrices. (b) A "
      "reveal zeroes the row and column in conflict and injects certainty by B. (c) What "
      "Sinkhorn-Knopp decodes, and the marginals of the exact joint belief: the largest difference "
      "is {:.4f}.",
      worst);
  return figure;
}

}  // namespace shellgame
