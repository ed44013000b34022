// The README's picture: a trace as a model reads it, and how far three architectures follow such
// traces, every seed a thin line, with the longest stream that was trained.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "shellgame/figures/figure.h"
#include "shellgame/figures/sources.h"
#include "shellgame/programs/render.h"
#include "shellgame/report/parts.h"
#include "shellgame/tasks/sampler.h"
#include "shellgame/tasks/task_keys.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr double kListingWidth = 158;

// As the measured models are trained, but short enough to be read.
Task shown_task(const Measured& measured) {
  Task task;
  task.group = measured.group;
  find_task_key("moves")->set(task, measured.moves);
  task.commands = 6;
  task.spacing = 2;
  return task;
}

// The values that a model must predict stand out.
std::vector<TextSpan> spans_of(const std::string& line) {
  if (line.starts_with(kPrompt))
    return {{std::string(kPrompt), kGrey}, {line.substr(kPrompt.size()), kInk}};
  const std::size_t value = line.rfind(' ') + 1;
  return {{line.substr(0, value), kInk}, {line.substr(value), kPurple, true}};
}

Box draw_trace(Figure& figure, const Measured& measured, double x, double y) {
  const Task task = shown_task(measured);
  const Sampler sampler(task);
  const std::string text = render(sampler.sample(0, 0));
  Listing listing{.lines = {}, .size = 7};
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string line = text.substr(from, end - from);
    from = end + 1;
    listing.lines.push_back(spans_of(line));
    figure.table.row({std::string("trace"), std::string(), std::string(), std::string(), line});
  }
  return draw_listing(figure.canvas, x, y, kListingWidth, listing);
}

// The accuracies of one set at the trained spacing: commands, then one number a seed.
std::map<std::uint64_t, std::vector<double>> by_commands(const Measured& one) {
  std::map<std::uint64_t, std::vector<double>> found;
  for (const auto& [cell, measured] : one.cells) {
    if (cell.second == one.trained.second) found[cell.first] = measured.accuracy;
  }
  return found;
}

bool has_two_lengths(const Measured& one) { return by_commands(one).size() >= 2; }

// Other results of the same architecture, task and training that go farther, if there are any.
const Measured* farther(const std::vector<Measured>& all, const Measured& one) {
  const Measured* best = nullptr;
  std::uint64_t most = by_commands(one).rbegin()->first;
  for (const Measured& other : all) {
    if (other.label != one.label || other.group != one.group || other.moves != one.moves ||
        other.trained != one.trained || other.stream != one.stream ||
        other.parameters != one.parameters || other.experiment == one.experiment)
      continue;
    const auto found = by_commands(other);
    if (found.empty() || found.rbegin()->first <= most) continue;
    most = found.rbegin()->first;
    best = &other;
  }
  return best;
}

void draw_seeds(Figure& figure, const Panel& panel, const Measured& one, const SeriesStyle& style) {
  const auto points = by_commands(one);
  for (std::size_t s = 0; s < one.seeds.size(); ++s) {
    std::vector<Point> line;
    for (const auto& [commands, accuracy] : points) {
      if (s >= accuracy.size()) continue;
      const auto x = static_cast<double>(commands);
      line.push_back({panel.across(x), panel.up(accuracy[s])});
      figure.canvas.circle(
          line.back().x, line.back().y, 1.1, style.colour,
          fmt::format("{}, seed {}: {:.6g}, {:.6g}", one.label, one.seeds[s], x, accuracy[s]));
      figure.table.row(
          {std::string("accuracy"), one.label, static_cast<double>(one.seeds[s]), x, accuracy[s]});
    }
    if (line.size() > 1)
      figure.canvas.polyline(line, {.colour = style.colour, .width = 0.7, .dash = style.dash});
  }
}

void mark_length(Canvas& canvas, const Panel& panel, std::uint64_t commands, double y,
                 const std::string& text, Anchor anchor) {
  const double x = panel.across(static_cast<double>(commands));
  canvas.line(x, panel.inner().y, x, panel.inner().bottom(),
              {.colour = kGrey, .width = 0.8, .dash = "2 2"});
  canvas.text(x + (anchor == Anchor::kEnd ? -3 : 3), y, text,
              {.size = 7, .colour = kGrey, .anchor = anchor});
}

// Which lines have two parts: they are of different trainings, and a reader must know.
std::string joined(const std::vector<Measured>& sets, const std::vector<const Measured*>& far) {
  std::string text;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (far[i] == nullptr) continue;
    text += fmt::format(
        " {}: to {} commands from {}, from {} on from {}, which trained the same recipe once more.",
        sets[i].label, by_commands(sets[i]).rbegin()->first, sets[i].experiment,
        by_commands(*far[i]).begin()->first, far[i]->experiment);
  }
  return text;
}

}  // namespace

Figure overview_figure(FigureSources& sources) {
  const std::vector<Measured> sets = comparison(sources, has_two_lengths);
  if (sets.empty()) fail("no results have traces longer than the trained ones");
  Figure figure{.canvas = Canvas(kFigureWidth, 230),
                .table = CsvTable({"part", "architecture", "seed", "commands", "value"}),
                .caption = {}};
  Canvas& canvas = figure.canvas;
  draw_heading(canvas, 10, 14, "(a)", "A trace: predict what is printed");
  const Box trace = draw_trace(figure, sets[0], 10, 24);

  std::vector<double> points;
  std::vector<const Measured*> far(sets.size(), nullptr);
  std::uint64_t stream = 0;
  std::string streaming;  // the family of the models that saw it: not all have streams
  for (std::size_t i = 0; i < sets.size(); ++i) {
    far[i] = farther(sources.found(), sets[i]);
    for (const Measured* one : {&sets[i], far[i]}) {
      if (one == nullptr) continue;
      if (one->stream > stream) {
        stream = one->stream;
        streaming = one->label.substr(0, one->label.find(' '));
      }
      for (const auto& [commands, accuracy] : by_commands(*one))
        points.push_back(static_cast<double>(commands));
    }
  }
  const auto [commands, spacing] = sets[0].trained;
  const double left = trace.right() + 48;
  draw_heading(canvas, left - 34, 14, "(b)",
               fmt::format("{} {}, one value printed every {} commands", sets[0].group,
                           sets[0].moves, spacing));
  const Box inner{left, 26, kFigureWidth - left - 12, std::max(110.0, trace.height - 62)};
  Panel panel(canvas, inner, points_axis(points, "commands in the trace"),
              share_axis("accuracy of printed values"));
  panel.draw_frame();
  panel.level(chance_of(sets[0]));
  const auto least = *std::ranges::min_element(points), most = *std::ranges::max_element(points);
  const auto on_axis = [&](std::uint64_t length) {
    return static_cast<double>(length) >= least && static_cast<double>(length) <= most;
  };
  const double middle = inner.centre();
  if (stream > commands && on_axis(stream))
    mark_length(canvas, panel, stream, middle - 5, streaming + "'s longest training stream",
                Anchor::kEnd);
  if (on_axis(commands))
    mark_length(canvas, panel, commands, middle + 9, "training traces", Anchor::kStart);
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const SeriesStyle style = style_of(sets[i].label, i);
    draw_seeds(figure, panel, sets[i], style);
    if (far[i] != nullptr) draw_seeds(figure, panel, *far[i], style);
    legend.push_back(
        {fmt::format("{}, {} seed{}", sets[i].label, sets[i].seeds.size(),
                     sets[i].seeds.size() == 1 ? "" : "s"),
         {.colour = style.colour, .dash = style.dash, .width = style.width, .markers = true}});
  }
  legend.push_back(level_entry("chance"));
  const double bottom =
      draw_legend(canvas, left - 30, inner.bottom() + 40, kFigureWidth - left + 20, legend);
  canvas.set_height(std::max(bottom + 2, trace.bottom() + 8));

  std::vector<Measured> origins = sets;
  for (const Measured* one : far) {
    if (one != nullptr) origins.push_back(*one);
  }
  figure.caption = fmt::format(
      "(a) A trace of {}, as a model reads it (shellgame trace --group {} --moves {} --commands 6 "
      "--spacing 2 --seed 0); the values in colour must be predicted. (b) Accuracy of printed "
      "values, {}, every seed a line; from {}.{}",
      sets[0].group, sets[0].group, sets[0].moves, sets[0].moves, origin_of(origins),
      joined(sets, far));
  return figure;
}

}  // namespace shellgame
