// The paper's intervention: the range of beta of one head at a time is scaled from [0, 2] to
// [0, 1], so that its eigenvalues go from [-1, 1] to [0, 1].
#include <fmt/format.h>

#include <map>

#include "shellgame/figures/inside.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kMostSeeds = 3;

Axis scale_axis() {
  // Read as in the paper: on the right the range is [0, 1].
  Axis axis{
      .least = 0, .most = 1, .log = false, .label = "eigenvalues of the scaled head", .ticks = {}};
  for (const double scale : {1.0, 0.9, 0.8, 0.7, 0.6, 0.5}) {
    const double least = 1 - 2 * scale;
    axis.ticks.push_back(
        {2 * (1 - scale), scale == 0.5 ? "[0,1]" : fmt::format("[{:.2g},1]", least)});
  }
  axis.least = -0.05;
  axis.most = 1.05;
  return axis;
}

}  // namespace

Figure intervention_figure(FigureSources& sources) {
  const Measured runs = runs_inside(sources, kMostSeeds);
  Figure figure{.canvas = Canvas(kFigureWidth, 240),
                .table = CsvTable({"seed", "layer", "head", "tracker", "scale", "accuracy"}),
                .caption = {}};
  Panel one(figure.canvas, {44, 26, 182, 130}, scale_axis(), share_axis("accuracy"),
            fmt::format("Seed {}, every head", runs.seeds[0]));
  Panel all(
      figure.canvas, {290, 26, 182, 130}, scale_axis(), share_axis("accuracy"),
      runs.directories.size() == 1 ? "One seed" : fmt::format("{} seeds", runs.directories.size()));
  one.draw_frame();
  all.draw_frame();
  std::vector<LegendEntry> left_legend;
  std::map<double, std::vector<double>> of_tracker, of_worst_other;
  double chance = 0;
  int commands = 0, spacing = 0;
  for (std::size_t i = 0; i < runs.directories.size(); ++i) {
    const auto tracker = tracker_of(sources, runs.directories[i]);
    const Json report = sources.probe(runs.directories[i], "intervene");
    chance = report.at("chance").get<double>();
    commands = report.at("commands").get<int>();
    spacing = report.at("spacing").get<int>();
    std::map<std::pair<int, int>, Series> by_head;
    std::map<double, double> worst;
    for (const Json& row : report.at("heads")) {
      const HeadName head = head_of(row);
      const double amount = row.at("amount").get<double>(), x = 2 * (1 - amount);
      const double accuracy = row.at("accuracy").get<double>();
      const bool is_tracker = tracker && head == *tracker;
      Series& series = by_head[{head.layer, head.head}];
      series.x.push_back(x);
      series.y.push_back(accuracy);
      if (is_tracker) {
        of_tracker[x].push_back(accuracy);
      } else {
        worst[x] = worst.contains(x) ? std::min(worst[x], accuracy) : accuracy;
      }
      figure.table.row({static_cast<double>(runs.seeds[i]), static_cast<double>(head.layer),
                        static_cast<double>(head.head), std::string(is_tracker ? "yes" : "no"),
                        amount, accuracy});
    }
    for (const auto& [x, accuracy] : worst) of_worst_other[x].push_back(accuracy);
    if (i > 0) continue;
    std::size_t k = 0;
    for (const auto& [place, series] : by_head) {
      const HeadName head{place.first, place.second};
      const bool is_tracker = tracker && head == *tracker;
      constexpr const char* kOthers[] = {kBlue, kGreen, kPurple, kSky, kOrange, kGrey};
      const SeriesStyle style{.colour = is_tracker ? kVermilion : kOthers[k % std::size(kOthers)],
                              .dash = is_tracker ? "" : dash_of(k),
                              .width = is_tracker ? 2.0 : 1.2};
      const std::string name =
          fmt::format("layer {}, head {}{}", head.layer, head.head, is_tracker ? " (tracker)" : "");
      one.series(series, style, name);
      if (by_head.size() <= 8 || is_tracker) left_legend.push_back({name, style});
      ++k;
    }
  }
  one.level(chance);
  all.level(chance);
  const SeriesStyle tracker_style{.colour = kVermilion, .width = 2};
  const SeriesStyle other_style{.colour = kBlue, .dash = "5 2"};
  for (const auto& [points, style, name] :
       {std::tuple(&of_worst_other, other_style, "the worst of all other heads"),
        std::tuple(&of_tracker, tracker_style, "the state-tracking head")}) {
    Series series;
    for (const auto& [x, values] : *points) add_point(series, x, values);
    if (!series.x.empty()) all.series(series, style, name);
  }
  const double first = draw_legend(figure.canvas, 44, 202, 110, left_legend);
  const double second = draw_legend(figure.canvas, 290, 202, 180,
                                    {{"the state-tracking head", tracker_style},
                                     {"the worst of all other heads", other_style},
                                     level_entry("chance")});
  figure.canvas.set_height(std::max(first, second) + 2);
  figure.caption = fmt::format(
      "Intervention: the range of beta of one head at a time is scaled, and with it the range of "
      "its eigenvalues from [-1,1] to [0,1]; accuracy of revealed values, {}, {} commands, spacing "
      "{}. Bands go from the worst to the best seed. {}. From {}.",
      runs.group, commands, spacing, model_words(runs), origin_of({runs}));
  return figure;
}

}  // namespace shellgame
