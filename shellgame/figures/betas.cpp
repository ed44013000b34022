// The paper's figure on the inside of a model: beta per layer, beta per head of the layer with the
// tracking head, and the principal components of that layer's keys.
#include <fmt/format.h>

#include "shellgame/figures/inside.h"

namespace shellgame {

Figure betas_figure(FigureSources& sources) {
  using Json = nlohmann::ordered_json;
  const Measured runs = runs_inside(sources, 5);
  // The first seed that has a tracker; if none has, the first.
  std::size_t chosen = 0;
  std::optional<HeadName> tracker;
  std::size_t with_tracker = 0;
  for (std::size_t i = 0; i < runs.directories.size(); ++i) {
    const auto found = tracker_of(sources, runs.directories[i]);
    with_tracker += found ? 1 : 0;
    if (!tracker && found) {
      tracker = found;
      chosen = i;
    }
  }
  const std::string& run = runs.directories[chosen];
  const std::string run_name = fmt::format("seed {}", runs.seeds[chosen]);
  const Json betas = sources.probe(run, "betas"), keys = sources.probe(run, "keys");
  Figure figure{.canvas = Canvas(kFigureWidth, 214), .table = inside_table(), .caption = {}};
  Canvas& canvas = figure.canvas;

  std::vector<std::string> names;
  for (const Json& row : betas.at("layers"))
    names.push_back(fmt::format("{}", row.at("layer").get<int>()));
  const int layer = tracker ? tracker->layer : betas.at("layers").back().at("layer").get<int>();
  Panel by_layer(canvas, {40, 26, 120, 126}, names_axis(names, "layer"), beta_axis("β"),
                 "Heads together");
  by_layer.draw_frame();
  by_layer.level(1);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Json& row = betas.at("layers")[i];
    const bool has_tracker = tracker && row.at("layer") == tracker->layer;
    by_layer.box(static_cast<double>(i), quantiles_of(row), 0.55, has_tracker ? kVermilion : kBlue);
    for (const char* key : {"min", "q05", "q25", "median", "q75", "q95", "max"})
      figure.table.row({run_name, row.at("layer").get<double>(), std::string("all"),
                        std::string(has_tracker ? "yes" : "no"), std::string("beta ") + key, "",
                        row.at(key).get<double>()});
  }
  draw_betas(figure, {202, 26, 120, 126}, betas.at("heads"), layer, tracker,
             fmt::format("Layer {}", layer), "β", run_name);
  draw_keys(figure, {372, 26, 104, 126}, keys.at("heads"), layer, tracker,
            fmt::format("Keys of layer {}", layer), "explained variance", run_name);
  std::vector<LegendEntry> legend;
  for (const Json& row : keys.at("heads")) {
    const HeadName head = head_of(row);
    if (head.layer != layer) continue;
    const bool is_tracker = tracker && head == *tracker;
    legend.push_back({fmt::format("head {}{}", head.head, is_tracker ? " (state-tracking)" : ""),
                      {.colour = head_colour(head, tracker),
                       .dash = is_tracker ? "" : dash_of(static_cast<std::size_t>(head.head)),
                       .width = is_tracker ? 2.0 : 1.2,
                       .markers = false}});
  }
  const double bottom = draw_legend(canvas, 202, 195, 276, legend);
  canvas.text(40, 195, "box: quartiles, whiskers: 5 to 95 %", {.size = 7, .colour = kGrey});
  canvas.set_height(bottom + 2);
  figure.caption = fmt::format(
      "{}, {}: distribution of beta over traces of {} commands with spacing {}, by layer and by "
      "head (boxes: quartiles; whiskers: 5 to 95 %; dotted: least and largest), and cumulative "
      "explained variance of the keys. {} A head that tracks the state was found in {} of {} "
      "seeds. "
      "From {}.",
      model_words(runs), run_name, betas.at("commands").get<int>(), betas.at("spacing").get<int>(),
      tracker ? fmt::format("The state-tracking head is head {} of layer {}.", tracker->head,
                            tracker->layer)
              : std::string("No head tracks the state."),
      with_tracker, runs.directories.size(), origin_of({runs}));
  return figure;
}

}  // namespace shellgame
