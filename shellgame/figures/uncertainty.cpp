// The paper's three sources of uncertainty, each with a program that the generator drew and the
// exact belief at each of its steps.
#include <fmt/format.h>

#include <algorithm>

#include "shellgame/automata/from_program.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/beliefs/smoothing.h"
#include "shellgame/figures/figure.h"
#include "shellgame/programs/render.h"
#include "shellgame/report/parts.h"
#include "shellgame/tasks/sampler.h"

namespace shellgame {
namespace {

constexpr std::size_t kVariables = 3;
// The sample whose reveals say something in all three cases.
constexpr std::uint64_t kSeed = 1;

struct UncertainSource {
  const char *letter, *name, *what;
  bool Task::*key;
};
constexpr UncertainSource kSources[] = {
    {"(A)", "Unobserved branching", "the text does not say whether the swap was done",
     &Task::branching},
    {"(B)", "Approximation", "a call whose work is skipped: only its distribution is known",
     &Task::skipped},
    {"(C)", "Inverse inference", "an unknown start, which later outputs constrain",
     &Task::unknown_start}};

struct Belief {
  std::string after;           // what was read last
  std::vector<double> matrix;  // by variable and value
};

// p(variable has value) of a distribution over all orders.
std::vector<double> marginals_of(const StateSpace& space, const std::vector<double>& states) {
  std::vector<double> matrix(kVariables * kVariables);
  for (std::size_t v = 0; v < kVariables; ++v) {
    for (std::size_t value = 0; value < kVariables; ++value) {
      Symbol symbol;
      symbol.reveal = Cells{{{static_cast<VariableId>(v), {static_cast<ValueId>(value)}}}};
      for (StateId q = 0; q < space.size(); ++q) {
        if (allows(space, symbol, q)) matrix[v * kVariables + value] += states[q];
      }
    }
  }
  return matrix;
}

std::vector<Belief> beliefs_of(const Program& program, bool about_start) {
  const ProgramWord read = word_of(program);
  const auto filter = make_filter(read.automaton);
  std::vector<Belief> beliefs = {{"at the start", filter->marginals()}};
  int command = 0;
  for (std::size_t t = 0; t < read.word.size(); ++t) {
    filter->step(read.word[t]);
    const Event& event = program.events()[read.events[t]];
    std::string after = fmt::format("command {}", command + 1);
    if (is_command(event.kind)) {
      ++command;
    } else {
      const VariableId variable = program.variables(event)[0];
      after = fmt::format("{} is {}", program.names().variable(variable),
                          program.names().value(program.values(event)[0]).text);
    }
    beliefs.push_back({after, filter->marginals()});
  }
  if (about_start)
    beliefs.push_back({"start, given all", marginals_of(read.automaton.space(),
                                                        smoothed(read.automaton, read.word)[0])});
  return beliefs;
}

std::vector<std::vector<TextSpan>> lines_of(const std::string& text) {
  std::vector<std::vector<TextSpan>> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string line = text.substr(from, end - from);
    from = end + 1;
    const bool code = line.starts_with(kPrompt);
    const bool hidden = code && (line.find("random()") != std::string::npos ||
                                 line.find("work1(") != std::string::npos ||
                                 line.find("sample(") != std::string::npos);
    std::vector<TextSpan> spans;
    if (code) spans.push_back({std::string(kPrompt), kGrey});
    spans.push_back({code ? line.substr(kPrompt.size()) : line,
                     hidden ? kVermilion
                     : code ? kInk
                            : kBlue,
                     hidden || !code});
    lines.push_back(spans);
  }
  return lines;
}

}  // namespace

Figure uncertainty_figure(FigureSources&) {
  Figure figure{.canvas = Canvas(kFigureWidth, 100),
                .table = CsvTable({"source", "step", "after", "variable", "value", "probability"}),
                .caption = {}};
  Canvas& canvas = figure.canvas;
  double y = 14;
  const MatrixStyle style{.cell = 14, .size = 6.5};
  for (const UncertainSource& source : kSources) {
    Task task;
    task.group = "S3";
    task.moves = Moves::kSwaps;
    task.commands = 2;
    task.spacing = 1;
    task.*source.key = true;
    const Program program = Sampler(task).sample(kSeed, 0);
    draw_heading(canvas, 10, y, source.letter, source.name);
    canvas.text(20 +
                    Canvas::width_of(fmt::format("{} {}", source.letter, source.name),
                                     {.size = 8.5, .bold = true}) +
                    8,
                y, source.what, {.italic = true, .colour = kGrey});
    const Listing listing{.lines = lines_of(render(program)), .size = 6.6};
    const Box box = draw_listing(canvas, 10, y + 7, 294, listing);
    const std::vector<Belief> beliefs = beliefs_of(program, source.key == &Task::unknown_start);
    double bottom = box.bottom();
    for (std::size_t i = 0; i < beliefs.size(); ++i) {
      const double left = 320 + static_cast<double>(i % 3) * 56,
                   top = y + 17 + static_cast<double>(i / 3) * 65;
      canvas.text(left + matrix_width(kVariables, style) / 2, top - 3, beliefs[i].after,
                  {.size = 6.8, .anchor = Anchor::kMiddle});
      const Box matrix = draw_matrix(canvas, left, top, beliefs[i].matrix, kVariables, style);
      for (std::size_t v = 0; v < kVariables; ++v) {
        const std::string name = program.names().variable(static_cast<VariableId>(v));
        if (i % 3 == 0)
          canvas.text(left - 3, top + (static_cast<double>(v) + 0.65) * style.cell, name,
                      {.size = 6.5, .mono = true, .colour = kGrey, .anchor = Anchor::kEnd});
        canvas.text(left + 4 + (static_cast<double>(v) + 0.5) * style.cell, matrix.bottom() + 7,
                    program.names().value(static_cast<ValueId>(v)).text,
                    {.size = 6.5, .colour = kGrey, .anchor = Anchor::kMiddle});
        for (std::size_t value = 0; value < kVariables; ++value)
          figure.table.row({std::string(source.name), static_cast<double>(i), beliefs[i].after,
                            name, program.names().value(static_cast<ValueId>(value)).text,
                            beliefs[i].matrix[v * kVariables + value]});
      }
      bottom = std::max(bottom, matrix.bottom() + 9);
    }
    y = bottom + 20;
  }
  canvas.set_height(y - 12);
  figure.caption = fmt::format(
      "Three sources of probabilistic state transitions, each with a program of the generator "
      "(S_3, swaps, seed {}, index 0) and the exact belief after each of its steps: rows are "
      "variables, columns values. For (C) the last matrix is the belief about the start given all "
      "that was seen (forward-backward).",
      kSeed);
  return figure;
}

}  // namespace shellgame
