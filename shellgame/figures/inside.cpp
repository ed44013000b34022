#include "shellgame/figures/inside.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Json> heads_of_layer(const Json& heads, int layer) {
  std::vector<Json> found;
  for (const Json& row : heads) {
    if (row.at("layer") == layer) found.push_back(row);
  }
  if (found.empty()) fail("the probe's answer must have heads of layer {}", layer);
  return found;
}

}  // namespace

HeadName head_of(const Json& row) {
  return {row.at("layer").get<int>(), row.at("head").get<int>()};
}

std::optional<HeadName> tracker_of(FigureSources& sources, const std::string& run) {
  const Json report = sources.probe(run, "find-tracker");
  if (report.at("tracker").is_null()) return {};
  return head_of(report.at("tracker"));
}

Quantiles quantiles_of(const Json& row) {
  return {row.at("min"), row.at("q05"), row.at("q25"), row.at("median"),
          row.at("q75"), row.at("q95"), row.at("max")};
}

std::string head_colour(const HeadName& head, const std::optional<HeadName>& tracker) {
  if (tracker && head == *tracker) return kVermilion;
  constexpr const char* kOthers[] = {kBlue, kGreen, kPurple, kSky, kOrange, kGrey};
  return kOthers[static_cast<std::size_t>(head.head) % std::size(kOthers)];
}

Axis beta_axis(const std::string& label) {
  Axis axis = linear_axis(0, 2, label, 4);
  axis.most = 2.05;
  return axis;
}

CsvTable inside_table() {
  return CsvTable({"run", "layer", "head", "tracker", "quantity", "component", "value"});
}

void draw_betas(Figure& figure, const Box& inner, const Json& heads, int layer,
                const std::optional<HeadName>& tracker, const std::string& title,
                const std::string& y_label, const std::string& run) {
  const std::vector<Json> rows = heads_of_layer(heads, layer);
  std::vector<std::string> names;
  for (const Json& row : rows) names.push_back(fmt::format("{}", row.at("head").get<int>()));
  Panel panel(figure.canvas, inner, names_axis(names, "head"), beta_axis(y_label), title);
  panel.draw_frame();
  panel.level(1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const HeadName head = head_of(rows[i]);
    panel.box(static_cast<double>(i), quantiles_of(rows[i]), 0.55, head_colour(head, tracker));
    for (const char* key : {"min", "q05", "q25", "median", "q75", "q95", "max"})
      figure.table.row({run, static_cast<double>(layer), static_cast<double>(head.head),
                        std::string(tracker && head == *tracker ? "yes" : "no"),
                        std::string("beta ") + key, "", rows[i].at(key).get<double>()});
  }
}

void draw_keys(Figure& figure, const Box& inner, const Json& heads, int layer,
               const std::optional<HeadName>& tracker, const std::string& title,
               const std::string& y_label, const std::string& run) {
  const std::vector<Json> rows = heads_of_layer(heads, layer);
  std::size_t most = 2;
  for (const Json& row : rows) most = std::max(most, row.at("explained").size());
  Panel panel(figure.canvas, inner,
              linear_axis(1, static_cast<double>(most), "principal components", 5),
              share_axis(y_label), title);
  panel.draw_frame();
  for (const Json& row : rows) {
    const HeadName head = head_of(row);
    const bool is_tracker = tracker && head == *tracker;
    Series series;
    for (std::size_t i = 0; i < row.at("explained").size(); ++i) {
      series.x.push_back(static_cast<double>(i + 1));
      series.y.push_back(row.at("explained")[i].get<double>());
      figure.table.row({run, static_cast<double>(layer), static_cast<double>(head.head),
                        std::string(is_tracker ? "yes" : "no"), std::string("keys explained"),
                        static_cast<double>(i + 1), series.y.back()});
    }
    panel.series(series,
                 {.colour = head_colour(head, tracker),
                  .dash = is_tracker ? "" : dash_of(static_cast<std::size_t>(head.head)),
                  .width = is_tracker ? 2.0 : 1.2,
                  .markers = false},
                 fmt::format("head {}", head.head));
  }
}

std::string model_words(const Measured& runs) {
  return fmt::format("{} on {}, {} parameters, experiment {}", runs.label, runs.group,
                     runs.parameters, runs.experiment);
}

}  // namespace shellgame
