// The paper's three representations of one trace: cups, a sequence-to-sequence problem, a trace of
// a shell. The trace is the sample of the generator that does what the paper's example does.
#include <fmt/format.h>

#include <algorithm>

#include "shellgame/figures/figure.h"
#include "shellgame/programs/render.h"
#include "shellgame/report/parts.h"
#include "shellgame/tasks/sampler.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr std::size_t kVariables = 3, kCommands = 3;
constexpr const char* kValueColours[] = {kGreen, kBlue, kVermilion};

Task example_task() {
  Task task;
  task.group = "S3";
  task.moves = Moves::kSwaps;
  task.commands = kCommands;
  task.spacing = 1;
  task.initial_reveal = InitialReveal::kOne;
  return task;
}

struct Example {
  std::uint64_t index = 0;
  Program program;
  std::vector<ValueId> states;  // after each command
  std::vector<std::pair<std::size_t, std::size_t>> swaps;
};

// Swaps (a b), (b c), (a c) with prints of a, a, c, a, as in the paper.
Example find_example() {
  const Sampler sampler(example_task());
  const std::vector<std::pair<std::size_t, std::size_t>> wanted = {{0, 1}, {1, 2}, {0, 2}};
  const std::vector<VariableId> shown = {0, 0, 2, 0};
  for (std::uint64_t index = 0; index < 1'000'000; ++index) {
    Example example;
    example.index = index;
    example.program = sampler.sample(0, index, &example.states);
    std::vector<VariableId> prints;
    for (const Event& event : example.program.events()) {
      if (event.kind == EventKind::kPermute) {
        const auto& targets = example.program.table().permutes[event.at].targets;
        example.swaps.emplace_back(std::min(targets[0], targets[1]),
                                   std::max(targets[0], targets[1]));
      } else if (event.kind == EventKind::kPrint) {
        prints.push_back(example.program.variables(event)[0]);
      }
    }
    if (example.swaps == wanted && prints == shown) return example;
  }
  fail("no sample of the generator is the paper's example");
}

// Of row t, 0 being the start, where each variable has its own value.
ValueId value_at(const Example& example, std::size_t row, std::size_t variable) {
  return row == 0 ? static_cast<ValueId>(variable)
                  : example.states[(row - 1) * kVariables + variable];
}

std::string value_text(const Example& example, std::size_t row, std::size_t variable) {
  return example.program.names().value(value_at(example, row, variable)).text;
}

void draw_cups(Canvas& canvas, const Example& example, double left, double top) {
  constexpr double kStep = 38, kRow = 46, kHalf = 13, kHeight = 20;
  for (std::size_t row = 0; row <= kCommands; ++row) {
    const double y = top + static_cast<double>(row) * kRow;
    canvas.text(left, y + 14, row == 0 ? "start:" : fmt::format("σ_{{≤{}}}:", row), {.size = 9});
    for (std::size_t v = 0; v < kVariables; ++v) {
      const double x = left + 50 + static_cast<double>(v) * kStep;
      const std::string colour = kValueColours[value_at(example, row, v)];
      canvas.polygon({{x - kHalf + 4, y},
                      {x + kHalf - 4, y},
                      {x + kHalf, y + kHeight},
                      {x - kHalf, y + kHeight}},
                     mixed_colour(colour, 0.35), 1, {.colour = colour, .width = 1});
      canvas.text(x, y + 14, value_text(example, row, v),
                  {.size = 10, .bold = true, .anchor = Anchor::kMiddle});
      if (row == 0)
        canvas.text(x, y - 5, example.program.names().variable(static_cast<VariableId>(v)),
                    {.mono = true, .colour = kGrey, .anchor = Anchor::kMiddle});
    }
    if (row == 0) continue;
    const auto [first, second] = example.swaps[row - 1];
    const double x1 = left + 50 + static_cast<double>(first) * kStep,
                 x2 = left + 50 + static_cast<double>(second) * kStep, level = y - 13;
    const Stroke stroke{.colour = kPurple, .width = 1.2};
    canvas.line(x1, level, x2, level, stroke);
    canvas.arrow(x1, level, x1, y - 2, stroke);
    canvas.arrow(x2, level, x2, y - 2, stroke);
    canvas.text((x1 + x2) / 2, level - 3.5, fmt::format("σ_{{{}}}", row),
                {.anchor = Anchor::kMiddle});
  }
}

void draw_sequence(Canvas& canvas, const Example& example, double left, double top) {
  constexpr double kStep = 44, kWidth = 36;
  const double first = left + 36;
  const Box model{first - 4, top + 58, 2 * kStep + kWidth + 8, 50};
  canvas.rectangle(model, "#f0f0ee", {.width = 1}, 4);
  canvas.text(model.middle(), model.centre() + 3, "Transformer / RNN",
              {.size = 9, .bold = true, .anchor = Anchor::kMiddle});
  canvas.text(left - 2, top + 24, "input:");
  canvas.text(left - 2, top + 156, "output:");
  for (std::size_t i = 0; i < kCommands; ++i) {
    const double x = first + static_cast<double>(i) * kStep;
    const auto [a, b] = example.swaps[i];
    const Box in{x, top, kWidth, 36}, out{x, top + 130, kWidth, 36};
    canvas.rectangle(in, mixed_colour(kSky, 0.3), {.width = 0.8}, 3);
    canvas.text(in.middle(), in.y + 14, fmt::format("σ_{{{}}}", i + 1),
                {.size = 9, .anchor = Anchor::kMiddle});
    canvas.text(in.middle(), in.y + 29, fmt::format("({} {})", a + 1, b + 1),
                {.anchor = Anchor::kMiddle});
    canvas.arrow(in.middle(), in.bottom() + 2, in.middle(), model.y - 2, {.width = 1});
    canvas.arrow(in.middle(), model.bottom() + 2, in.middle(), out.y - 2, {.width = 1});
    canvas.rectangle(out, mixed_colour(kGreen, 0.25), {.width = 0.8}, 3);
    canvas.text(out.middle(), out.y + 14, fmt::format("σ_{{≤{}}}", i + 1),
                {.size = 9, .anchor = Anchor::kMiddle});
    std::string values;
    for (std::size_t v = 0; v < kVariables; ++v)
      values += (v == 0 ? "" : " ") + value_text(example, i + 1, v);
    canvas.text(out.middle(), out.y + 29, values, {.anchor = Anchor::kMiddle});
  }
}

// Variables in the colour of the value that they have before the line; values in their own.
std::vector<TextSpan> coloured(const Example& example, const std::string& line, std::size_t row) {
  std::vector<TextSpan> spans;
  const bool code = line.starts_with(kPrompt);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\'') quoted = !quoted;
    std::string colour = code && i < kPrompt.size() ? kGrey : kInk;
    bool bold = false;
    const bool alone =
        (i == 0 || !std::isalnum(static_cast<unsigned char>(line[i - 1]))) &&
        (i + 1 == line.size() || !std::isalnum(static_cast<unsigned char>(line[i + 1])));
    if (alone && !quoted && code && c >= 'a' && c < static_cast<char>('a' + kVariables)) {
      colour = kValueColours[value_at(example, row, static_cast<std::size_t>(c - 'a'))];
      bold = true;
    } else if (alone && !quoted && c >= '1' && c <= '3') {
      colour = kValueColours[c - '1'];
      bold = true;
    }
    if (!spans.empty() && spans.back().colour == colour && spans.back().bold == bold) {
      spans.back().text += c;
    } else {
      spans.push_back({std::string(1, c), colour, bold});
    }
  }
  return spans;
}

}  // namespace

Figure representations_figure(FigureSources&) {
  const Example example = find_example();
  Figure figure{.canvas = Canvas(kFigureWidth, 226),
                .table = CsvTable({"line", "commands before", "text"}),
                .caption = {}};
  Canvas& canvas = figure.canvas;
  draw_heading(canvas, 10, 14, "(a)", "Cups that are swapped");
  draw_cups(canvas, example, 12, 46);
  draw_heading(canvas, 186, 14, "(b)", "Sequence to sequence");
  draw_sequence(canvas, example, 188, 36);
  draw_heading(canvas, 366, 14, "(c)", "Trace of a Python shell");
  Listing listing{.lines = {}, .size = 8};
  const std::string text = render(example.program);
  std::size_t row = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string line = text.substr(from, end - from);
    from = end + 1;
    figure.table.row(
        {static_cast<double>(listing.lines.size() + 1), static_cast<double>(row), line});
    listing.lines.push_back(coloured(example, line, row));
    if (line.starts_with(kPrompt) && line.find(", ") != std::string::npos &&
        line.find(" = ") != std::string::npos)
      ++row;
  }
  draw_listing(canvas, 366, 28, 112, listing);
  figure.caption = fmt::format(
      "Three representations of one trace of S_3: cups, input and output of a sequence-to-sequence "
      "problem, and the trace of a shell, where prints reveal a part of the state. The trace is "
      "sample {} of seed 0 (shellgame trace --group S3 --moves swaps --commands 3 --spacing 1 "
      "--initial-reveal one --first-index {}); each colour is a value.",
      example.index, example.index);
  return figure;
}

}  // namespace shellgame
