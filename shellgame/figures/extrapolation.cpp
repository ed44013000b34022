// The paper's figure of extrapolation: the final reveal's accuracy as commands and spacing go
// beyond the trained ones, by architecture; and where a long evaluation was found, its grid.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "shellgame/figures/figure.h"
#include "shellgame/figures/sources.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

enum class Along { kCommands, kSpacing };

std::uint64_t along_of(const Cell2& cell, Along along) {
  return along == Along::kCommands ? cell.first : cell.second;
}
std::uint64_t other_of(const Cell2& cell, Along along) {
  return along == Along::kCommands ? cell.second : cell.first;
}

// The values of one axis at a fixed value of the other.
std::set<std::uint64_t> places(const Measured& one, Along along, std::uint64_t fixed) {
  std::set<std::uint64_t> found;
  for (const auto& [cell, measured] : one.cells) {
    if (other_of(cell, along) == fixed) found.insert(along_of(cell, along));
  }
  return found;
}

bool extrapolates(const Measured& one) {
  return places(one, Along::kCommands, one.trained.second).size() >= 2;
}

bool is_grid(const Measured& one) {
  std::set<std::uint64_t> commands, spacing;
  for (const auto& [cell, measured] : one.cells) {
    commands.insert(cell.first);
    spacing.insert(cell.second);
  }
  return one.group == "S5" && commands.size() >= 4 && spacing.size() >= 3;
}

struct Line {
  const Measured* set;
  std::uint64_t fixed;
  std::string name;
  SeriesStyle style;
};

void draw_lines(Figure& figure, const Box& inner, const std::string& part, Along along,
                const std::string& label, const std::string& title, const std::vector<Line>& lines,
                bool whole) {
  std::vector<double> points;
  for (const Line& line : lines) {
    for (const std::uint64_t x : places(*line.set, along, line.fixed))
      points.push_back(static_cast<double>(x));
  }
  Panel panel(figure.canvas, inner, points_axis(points, label),
              share_axis(whole ? "accuracy" : "accuracy of the final reveal"), title);
  panel.draw_frame();
  panel.level(chance_of(*lines[0].set));
  for (const Line& line : lines) {
    Series series;
    for (const std::uint64_t x : places(*line.set, along, line.fixed)) {
      const Cell2 cell = along == Along::kCommands ? Cell2{x, line.fixed} : Cell2{line.fixed, x};
      const MeasuredCell& measured = line.set->cells.at(cell);
      const auto& values = whole ? measured.accuracy : measured.final_accuracy;
      for (std::size_t s = 0; s < values.size(); ++s)
        figure.table.row({part, line.name, static_cast<double>(line.set->seeds.at(s)),
                          static_cast<double>(cell.first), static_cast<double>(cell.second),
                          measured.accuracy[s], measured.final_accuracy[s]});
      add_point(series, static_cast<double>(x), values);
    }
    panel.series(series, line.style, line.name);
  }
  const auto [least, most] = std::ranges::minmax(points);
  const auto mark = [&](std::uint64_t at, const char* name) {
    if (static_cast<double>(at) < least || static_cast<double>(at) > most) return;
    const double x = panel.across(static_cast<double>(at));
    figure.canvas.line(x, inner.y, x, inner.bottom(),
                       {.colour = kGrey, .width = 0.8, .dash = "2 2"});
    figure.canvas.text(x + 3, inner.bottom() - 3, name, {.size = 7, .colour = kGrey});
  };
  // What a gradient saw at once, and what a model saw in one stream.
  const Measured& set = *lines[0].set;
  const bool streams = along == Along::kCommands && set.stream > set.trained.first;
  mark(along_of(set.trained, along), streams ? "segment" : "trained");
  if (streams) mark(set.stream, "stream");
}

std::vector<LegendEntry> legend_of(const std::vector<Line>& lines) {
  std::vector<LegendEntry> legend;
  for (const Line& line : lines) legend.push_back({line.name, line.style});
  legend.push_back(level_entry("chance"));
  return legend;
}

// The number of commands at which all sets have the most spacings.
std::uint64_t commands_for_spacings(const std::vector<Measured>& sets) {
  std::uint64_t best = 0;
  std::size_t most = 0;
  for (const auto& [cell, measured] : sets[0].cells) {
    std::size_t least = 1000;
    for (const Measured& one : sets)
      least = std::min(least, places(one, Along::kSpacing, cell.first).size());
    if (least > most) {
      most = least;
      best = cell.first;
    }
  }
  return best;
}

}  // namespace

Figure extrapolation_figure(FigureSources& sources) {
  const std::vector<Measured> sets = comparison(sources, extrapolates);
  if (sets.empty()) fail("no results have traces longer than the trained ones");
  Figure figure{.canvas = Canvas(kFigureWidth, 400),
                .table = CsvTable({"part", "curve", "seed", "commands", "spacing", "accuracy",
                                   "accuracy of the final reveal"}),
                .caption = {}};
  const Box left{50, 36, 182, 128}, right{292, 36, 182, 128};
  draw_heading(figure.canvas, 10, 14, "(a)", "Architectures");
  std::vector<Line> by_commands, by_spacing;
  const std::uint64_t commands = commands_for_spacings(sets);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const SeriesStyle style = style_of(sets[i].label, i);
    by_commands.push_back({&sets[i], sets[i].trained.second, sets[i].label, style});
    by_spacing.push_back({&sets[i], commands, sets[i].label, style});
  }
  draw_lines(figure, left, "architectures", Along::kCommands, "commands",
             fmt::format("{}, spacing {}", sets[0].group, sets[0].trained.second), by_commands,
             false);
  draw_lines(figure, right, "architectures", Along::kSpacing, "spacing",
             fmt::format("{}, {} commands", sets[0].group, commands), by_spacing, false);
  double y = draw_legend(figure.canvas, 50, left.bottom() + 42, 424, legend_of(by_commands));
  figure.caption = fmt::format(
      "Beyond the trained numbers of commands and spacing. (a) Accuracy of the final reveal by "
      "architecture; lines are means over seeds, bands go from the worst to the best; from {}. "
      "Dashed: the segment that a gradient saw, and the longest stream that was trained.",
      origin_of(sets));

  const Measured* grid = nullptr;
  for (const Measured& one : sources.found()) {
    if (is_grid(one) && (grid == nullptr || one.cells.size() > grid->cells.size())) grid = &one;
  }
  if (grid != nullptr) {
    draw_heading(figure.canvas, 10, y + 14, "(b)",
                 fmt::format("{}, far beyond: accuracy of all reveals", grid->label));
    const Box lower_left{50, y + 36, 182, 128}, lower_right{292, y + 36, 182, 128};
    const std::string title =
        fmt::format("{}, streams to {}, trained spacing {}", grid->group,
                    std::max(grid->stream, grid->trained.first), grid->trained.second);
    std::vector<Line> by_far_commands, by_far_spacing;
    std::set<std::uint64_t> all_commands, all_spacing;
    for (const auto& [cell, measured] : grid->cells) {
      all_commands.insert(cell.first);
      all_spacing.insert(cell.second);
    }
    // Bands of more than three lines would cover each other.
    std::vector<std::uint64_t> few(all_commands.begin(), all_commands.end());
    few = {few.front(), few[few.size() / 2], few.back()};
    std::size_t i = 0;
    for (const std::uint64_t spacing : all_spacing) {
      by_far_commands.push_back({grid,
                                 spacing,
                                 fmt::format("spacing {}", spacing),
                                 {.colour = colour_of(i), .dash = dash_of(i)}});
      ++i;
    }
    i = 0;
    for (const std::uint64_t count : few) {
      by_far_spacing.push_back({grid,
                                count,
                                fmt::format("{} commands", count),
                                {.colour = colour_of(i), .dash = dash_of(i)}});
      ++i;
    }
    draw_lines(figure, lower_left, "far", Along::kCommands, "commands", title, by_far_commands,
               true);
    draw_lines(figure, lower_right, "far", Along::kSpacing, "spacing", title, by_far_spacing, true);
    const double first =
        draw_legend(figure.canvas, 50, lower_left.bottom() + 42, 200, legend_of(by_far_commands));
    y = std::max(first, draw_legend(figure.canvas, 292, lower_left.bottom() + 42, 190,
                                    legend_of(by_far_spacing)));
    figure.caption +=
        fmt::format(" (b) {}, accuracy of all reveals, from {}.", grid->label, origin_of({*grid}));
  }
  figure.canvas.set_height(y + 2);
  return figure;
}

}  // namespace shellgame
