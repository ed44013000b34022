// The paper's first figure, the state-tracking hierarchy, with numbers that were measured: trained
// architectures on deterministic automata, recurrences in finite precision on probabilistic ones.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "shellgame/automata/example_automata.h"
#include "shellgame/decay/stability.h"
#include "shellgame/figures/figure.h"
#include "shellgame/figures/sources.h"
#include "shellgame/report/parts.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

bool has_trained_cell(const Measured& one) { return one.cells.contains(one.trained); }

std::string percent(const std::vector<double>& values) {
  const SeedSpread spread = seed_spread(values);
  return values.size() == 1 ? fmt::format("{:.1f}", 100 * spread.mean)
                            : fmt::format("{:.1f} ({:.1f}–{:.1f})", 100 * spread.mean,
                                          100 * spread.least, 100 * spread.most);
}

constexpr const char* kHolds = "holds";

struct Column {
  double x;
  Anchor anchor;
};

void draw_cells(Canvas& canvas, double y, const std::vector<Column>& columns,
                const std::vector<std::string>& texts, const TextStyle& style) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    TextStyle one = style;
    one.anchor = columns[i].anchor;
    canvas.text(columns[i].x, y, texts[i], one);
  }
}

std::string ending(const Survival& survival) {
  if (survival.vanished_step) return fmt::format("vanishes at {}", *survival.vanished_step);
  return survival.wrong_step ? fmt::format("wrong at {}", *survival.wrong_step) : kHolds;
}

// What the rows above it show, and no more.
std::string verdict(const std::map<FilterKind, bool>& lasts) {
  std::vector<std::string> keep;
  if (lasts.at(FilterKind::kGain)) keep.push_back("a gain from the input alone");
  if (lasts.at(FilterKind::kExact)) keep.push_back("renormalisation");
  if (lasts.at(FilterKind::kLinear) && lasts.at(FilterKind::kMarginal))
    return "on these cycles nothing vanishes";
  if (keep.empty()) return "on these cycles every recurrence breaks";
  return fmt::format("on these cycles plain linear recurrences break; {} {}",
                     fmt::join(keep, " and "), keep.size() == 1 ? "does not" : "do not");
}

}  // namespace

Figure hierarchy_figure(FigureSources& sources) {
  const std::vector<Measured> sets = comparison(sources, has_trained_cell);
  if (sets.empty()) fail("no results of several architectures at their trained length were found");
  Figure figure{.canvas = Canvas(kFigureWidth, 359),
                .table = CsvTable({"part", "row", "column", "seed", "value"}),
                .caption = {}};
  Canvas& canvas = figure.canvas;

  // Above: recurrences in finite precision.
  const Box upper{20, 10, 446, 157};
  canvas.rectangle(upper, mixed_colour(kVermilion, 0.08),
                   {.colour = kVermilion, .width = 1.4, .dash = "5 3"}, 5);
  canvas.text(upper.middle(), 26, "Probabilistic automata with state reveals",
              {.size = 10, .bold = true, .anchor = Anchor::kMiddle});
  canvas.text(upper.middle(), 38, "belief states, hidden branching",
              {.italic = true, .anchor = Anchor::kMiddle});
  const std::vector<Column> columns = {
      {36, Anchor::kStart}, {270, Anchor::kMiddle}, {344, Anchor::kMiddle}, {418, Anchor::kMiddle}};
  const std::vector<Precision> formats = {Precision::kFp32, Precision::kBf16, Precision::kFp16};
  draw_cells(canvas, 56, columns, {"recurrence on the paper's cycle", "fp32", "bf16", "fp16"},
             {.bold = true});
  canvas.line(34, 60, 452, 60, {.colour = kGrey, .width = 0.6});
  const struct {
    const char *name, *example;
    FilterKind kind;
  } rows[] = {{"joint, linear: h ← T Z h", "joint-cycle", FilterKind::kLinear},
              {"marginal, linear: H ← A H A′ + B", "marginal-cycle", FilterKind::kMarginal},
              {"joint, linear with a gain: h ← g(symbol) T Z h", "joint-cycle", FilterKind::kGain},
              {"joint, renormalised after each reveal", "joint-cycle", FilterKind::kExact}};
  double y = 73;
  std::map<FilterKind, bool> lasts = {{FilterKind::kLinear, true},
                                      {FilterKind::kMarginal, true},
                                      {FilterKind::kGain, true},
                                      {FilterKind::kExact, true}};
  for (const auto& row : rows) {
    const AutomatonFile file = example_automaton(row.example);
    std::vector<FilterOptions> filters;
    for (const Precision precision : formats)
      filters.push_back({.kind = row.kind, .precision = precision});
    if (row.kind == FilterKind::kGain) {
      for (FilterOptions& one : filters) one.gains = fitted_gains(file.automaton, file.word, 100);
    }
    const StabilityReport report =
        measure_stability(file.automaton, file.word, filters, {.cycles = 2000});
    std::vector<std::string> texts = {row.name};
    for (std::size_t i = 0; i < filters.size(); ++i) {
      texts.push_back(ending(report.filters[i]));
      if (texts.back() != kHolds) lasts[row.kind] = false;
      figure.table.row({std::string("probabilistic"), std::string(row.name),
                        std::string(format_of(formats[i]).name), "", texts.back()});
    }
    draw_cells(canvas, y, columns, {texts[0]}, {});
    for (std::size_t i = 1; i < texts.size(); ++i)
      canvas.text(columns[i].x, y, texts[i],
                  {.colour = texts[i] == kHolds ? kGreen : kVermilion, .anchor = Anchor::kMiddle});
    y += 14;
  }
  canvas.text(upper.middle(), 142, verdict(lasts),
              {.size = 8.5, .bold = true, .anchor = Anchor::kMiddle});

  const std::string trained = "trained linear against non-linear RNNs on such cycles: ";
  const std::optional<Verdict> judged = sources.verdict();
  const std::string words = judged ? judged->words : "not measured";
  const TextStyle line =
      Canvas::fitted(trained + words, {.size = 8.5, .anchor = Anchor::kMiddle}, upper.width - 20);
  canvas.text(upper.middle(), 157, trained + words, line);
  figure.table.row({std::string("trained"), std::string("verdict"), "", "", words});

  canvas.arrow(upper.middle(), 197, upper.middle(), 171, {.colour = kGrey, .width = 1.6});
  canvas.text(upper.middle() + 10, 188, "complexity gap", {.bold = true, .colour = kGrey});

  // Below: trained models.
  const double top = 201;
  const Box lower{20, top, 446, 88 + 14 * static_cast<double>(sets.size())};
  canvas.rectangle(lower, mixed_colour(kBlue, 0.08), {.colour = kBlue, .width = 1.4}, 5);
  canvas.text(lower.middle(), top + 16, "Deterministic automata",
              {.size = 10, .bold = true, .anchor = Anchor::kMiddle});
  canvas.text(
      lower.middle(), top + 28,
      fmt::format("permutations ({}), next-token prediction on traces of a shell", sets[0].group),
      {.italic = true, .anchor = Anchor::kMiddle});
  const std::vector<Column> trained_columns = {
      {36, Anchor::kStart}, {205, Anchor::kMiddle}, {304, Anchor::kMiddle}, {402, Anchor::kMiddle}};
  const auto [commands, spacing] = sets[0].trained;
  const std::vector<Cell2> cells = {
      {commands, spacing}, {2 * commands, 2 * spacing}, {4 * commands, spacing}};
  std::vector<std::string> header = {"accuracy in %, mean (range)"};
  for (const Cell2& cell : cells)
    header.push_back(fmt::format("{} commands, {} apart", cell.first, cell.second));
  draw_cells(canvas, top + 46, trained_columns, header, {.size = 7.5, .bold = true});
  canvas.line(34, top + 50, 452, top + 50, {.colour = kGrey, .width = 0.6});
  y = top + 63;
  bool solved = false;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    std::vector<std::string> texts = {fmt::format("{}, {} seed{}", sets[i].label,
                                                  sets[i].seeds.size(),
                                                  sets[i].seeds.size() == 1 ? "" : "s")};
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const auto cell = sets[i].cells.find(cells[c]);
      texts.push_back(cell == sets[i].cells.end() ? "–" : percent(cell->second.accuracy));
      if (cell == sets[i].cells.end()) continue;
      for (std::size_t s = 0; s < cell->second.accuracy.size(); ++s)
        figure.table.row({std::string("deterministic"), sets[i].label, header[c + 1],
                          static_cast<double>(sets[i].seeds.at(s)), cell->second.accuracy[s]});
    }
    solved = solved || (sets[i].label == "DeltaNet [-1,1]" &&
                        seed_spread(sets[i].cells.at(sets[i].trained).accuracy).mean > 0.98);
    draw_cells(canvas, y, trained_columns, texts, {.colour = style_of(texts[0], i).colour});
    y += 14;
  }
  canvas.text(lower.middle(), y + 9,
              fmt::format("{} (chance {:.1f} %)",
                          solved ? "solved by a linear RNN with eigenvalues in [-1,1]"
                                 : "not solved by these runs",
                          100 * chance_of(sets[0])),
              {.size = 8.5,
               .bold = true,
               .colour = solved ? kGreen : kVermilion,
               .anchor = Anchor::kMiddle});
  canvas.set_height(lower.bottom() + 10);
  figure.caption = fmt::format(
      "The state-tracking hierarchy with measured numbers. Below: accuracy of revealed values of "
      "trained models, {}. Above: the symbol at which linear recurrences on the paper's two cycles "
      "have nothing left, 2000 cycles at most (shellgame belief stability --example joint-cycle, "
      "marginal-cycle); of trained models the verdict of docs/uncertainty.md ({}).",
      origin_of(sets),
      judged ? "shellgame verdict experiments/uncertainty/rule.toml" : "not measured");
  return figure;
}

}  // namespace shellgame
