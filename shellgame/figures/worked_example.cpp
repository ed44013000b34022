// The worked example of the paper's appendix: a fuzzy swap in S_3, then an observation, with the
// matrices of the joint linear recurrence as the automaton gives them.
#include <fmt/format.h>

#include <algorithm>

#include "shellgame/automata/automaton_file.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/figures/figure.h"
#include "shellgame/paper/examples.h"
#include "shellgame/report/parts.h"

namespace shellgame {
namespace {

constexpr std::size_t kStates = 6;
// The paper's order of the universes.
constexpr const char* kUniverses[] = {"[1,2,3]", "[2,1,3]", "[3,2,1]",
                                      "[1,3,2]", "[2,3,1]", "[3,1,2]"};

AutomatonFile example() {
  return parse_automaton(R"toml(
variables = ["a", "b", "c"]
start = [1, 2, 3]
[symbol.fuzzy]
shuffle = "0.5 (1 2), 0.5 (1 3)"
acts = "values"
[symbol.observe]
reveal = { a = 3 }
)toml",
                         "worked-example");
}

// T Z of a symbol, in the paper's order.
std::vector<double> update_of(const Automaton& automaton, SymbolId symbol,
                              const std::vector<StateId>& order) {
  std::vector<double> matrix(kStates * kStates);
  const StateSpace& space = automaton.space();
  for (std::size_t column = 0; column < kStates; ++column) {
    if (!allows(space, automaton.symbol(symbol), order[column])) continue;
    for (const auto& [to, weight] : successors(space, automaton.symbol(symbol), order[column])) {
      const auto row = static_cast<std::size_t>(std::ranges::find(order, to) - order.begin());
      matrix[row * kStates + column] = to_double(weight);
    }
  }
  return matrix;
}

}  // namespace

Figure worked_example_figure(FigureSources&) {
  const AutomatonFile file = example();
  std::vector<StateId> order;
  for (const char* name : kUniverses) order.push_back(*file.automaton.space().find(name));
  Figure figure{.canvas = Canvas(kFigureWidth, 288),
                .table = CsvTable({"matrix", "row", "column", "value"}),
                .caption = {}};
  Canvas& canvas = figure.canvas;
  constexpr double kCell = 16;
  const auto filter = make_filter(file.automaton, {.kind = FilterKind::kLinear});
  const auto state = [&] {
    const std::vector<double> by_rank = filter->state();
    std::vector<double> values;
    for (const StateId q : order) values.push_back(by_rank[q]);
    return values;
  };
  const auto put = [&](double x, double y, const std::string& name, const std::string& plain,
                       const std::vector<double>& values, std::size_t columns,
                       const std::string& colour) {
    const Box box =
        draw_matrix(canvas, x, y, values, columns, {.cell = kCell, .colour = colour, .size = 6.5});
    canvas.text(box.middle(), y - 5, name, {.size = 9, .anchor = Anchor::kMiddle});
    for (std::size_t i = 0; i < values.size(); ++i)
      figure.table.row({plain, static_cast<double>(i / columns + 1),
                        static_cast<double>(i % columns + 1), values[i]});
    return box;
  };
  const struct {
    SymbolId symbol;
    const char *letter, *heading, *name, *plain;
  } steps[] = {
      {0, "(a)", "Step 1, \"try to swap 1 and 2\": half the time 1 and 3 are swapped instead",
       "A_{fuzzy}", "A_fuzzy"},
      {1, "(b)", "Step 2, \"position 1 contains object 3\"", "A_{obs}", "A_obs"}};
  double mass = 1;
  for (std::size_t t = 0; t < 2; ++t) {
    const double top = 14 + static_cast<double>(t) * 142, y = top + 26;
    draw_heading(canvas, 10, top, steps[t].letter, steps[t].heading);
    const std::vector<double> before = state();
    mass *= filter->step(steps[t].symbol).survival;
    for (std::size_t i = 0; i < kStates; ++i)
      canvas.text(46, y + (static_cast<double>(i) + 0.68) * kCell, kUniverses[i],
                  {.size = 6.8, .mono = true, .colour = kGrey, .anchor = Anchor::kEnd});
    const auto sign = [&](double x, const char* text) {
      canvas.text(x, y + 3 * kCell + 4, text, {.size = 11, .anchor = Anchor::kMiddle});
    };
    put(52, y, fmt::format("H_{{{}}}", t + 1), fmt::format("H_{}", t + 1), state(), 1, kBlue);
    sign(90, "=");
    const Box box = put(104, y, steps[t].name, steps[t].plain,
                        update_of(file.automaton, steps[t].symbol, order), kStates, kVermilion);
    sign(box.right() + 11, "·");
    put(box.right() + 22, y, fmt::format("H_{{{}}}", t), fmt::format("H_{} of step {}", t, t + 1),
        before, 1, kBlue);
    draw_paragraph(
        canvas, 268, y + 22, 206,
        t == 0 ? "A transition: every column of A sums to 1, and the mass of H stays 1. It is "
                 "split between the universes [2,1,3] and [3,2,1]."
               : fmt::format("An observation: A keeps the universes that agree. The right one, "
                             "[3,2,1], is left, but H has a mass of {:g}: the probability of what "
                             "was seen. A linear recurrence carries it on, step after step.",
                             mass),
        {.size = 7.5});
  }
  figure.caption =
      "The worked example of the paper's appendix, with the matrices of the automaton and the "
      "states of the joint linear filter. Rows and columns are the six universes of S_3 in the "
      "paper's order. All worked examples beside the paper's numbers: shellgame belief examples.";
  return figure;
}

}  // namespace shellgame
