// The appendix's grids: beta of every head, and the principal components of every head's keys, one
// panel a layer. Models of few layers show several seeds.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "shellgame/figures/inside.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;
using DrawHeads = void (*)(Figure&, const Box&, const Json&, int, const std::optional<HeadName>&,
                           const std::string&, const std::string&, const std::string&);

constexpr std::size_t kColumns = 3, kMostColumns = 4, kMostSeeds = 5;

Figure grid_figure(FigureSources& sources, const std::string& probe, const std::string& y_label,
                   DrawHeads draw, const std::string& what) {
  const Measured runs = runs_inside(sources, kMostSeeds);
  const auto layers_of = [](const Json& report) {
    std::set<int> layers;
    for (const Json& row : report.at("heads")) layers.insert(row.at("layer").get<int>());
    return layers;
  };
  const std::set<int> layers = layers_of(sources.probe(runs.directories[0], probe));
  const bool by_seed = layers.size() <= kColumns;
  const std::size_t shown = by_seed ? runs.directories.size() : 1;
  // Seeds side by side, as far as there is room.
  const std::size_t columns =
      by_seed ? layers.size() * std::min(shown, kMostColumns / layers.size()) : kColumns;
  const double step = (kFigureWidth - 6) / static_cast<double>(columns);
  const double width = step - (columns > kColumns ? 42 : 52), height = 88, row_step = height + 50;
  Figure figure{.canvas = Canvas(kFigureWidth, 100), .table = inside_table(), .caption = {}};
  std::size_t place = 0, heads = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    const Json report = sources.probe(runs.directories[i], probe);
    const auto tracker = tracker_of(sources, runs.directories[i]);
    for (const int layer : layers) {
      const Box inner{(columns > kColumns ? 38 : 46) + static_cast<double>(place % columns) * step,
                      22 + static_cast<double>(place / columns) * row_step, width, height};
      const std::string seed = fmt::format("seed {}", runs.seeds[i]);
      const std::string title =
          by_seed ? fmt::format("Layer {}, {}", layer, seed) : fmt::format("Layer {}", layer);
      draw(figure, inner, report.at("heads"), layer, tracker, title,
           place % columns == 0 ? y_label : "", seed);
      ++place;
    }
    for (const Json& row : report.at("heads"))
      heads = std::max(heads, row.at("head").get<std::size_t>() + 1);
  }
  const std::size_t rows = (place + columns - 1) / columns;
  double y = 22 + static_cast<double>(rows) * row_step - 2;
  std::vector<LegendEntry> legend = {
      {"the state-tracking head", {.colour = kVermilion, .width = 2, .markers = false}}};
  for (std::size_t head = 0; head < heads && probe == "keys"; ++head)
    legend.push_back({fmt::format("head {}", head),
                      {.colour = head_colour({-1, static_cast<int>(head)}, {}),
                       .dash = dash_of(head),
                       .width = 1.2,
                       .markers = false}});
  y = draw_legend(figure.canvas, 46, y, kFigureWidth - 60, legend);
  figure.canvas.set_height(y + 2);
  figure.caption = fmt::format(
      "{}, per layer and head. {}{}. From {}.", what, model_words(runs),
      by_seed ? fmt::format(", {} seeds", shown) : fmt::format(", seed {}", runs.seeds[0]),
      origin_of({runs}));
  return figure;
}

}  // namespace

Figure beta_grid_figure(FigureSources& sources) {
  return grid_figure(sources, "betas", "β", draw_betas, "Distribution of beta");
}

Figure key_grid_figure(FigureSources& sources) {
  return grid_figure(sources, "keys", "explained variance", draw_keys,
                     "Cumulative explained variance of the keys");
}

}  // namespace shellgame
