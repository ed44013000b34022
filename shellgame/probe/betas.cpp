#include "shellgame/probe/betas.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shellgame/probe/probes.h"
#include "shellgame/probe/table.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;
using ByKind = std::array<std::vector<double>, kTokenKinds>;

// What is known about some betas, after `row` has said whose they are.
Json row_of(Json row, std::vector<double>& betas) {
  const auto above = std::ranges::count_if(betas, [](double b) { return b > kNearTwo; });
  row["above_1.9"] = static_cast<double>(above) / static_cast<double>(betas.size());
  row.update(distribution_of(betas));
  return row;
}

}  // namespace

Json probe_betas(const Model& model, const std::vector<WholeEpisode>& traces) {
  const std::vector<LayerHeads> layers = heads_of(model);
  const std::vector<HeadPlace> places = heads_with(layers, &LayerHeads::beta);
  if (places.empty()) {
    wrong_use("betas must be asked of a mixer of the delta-rule family, and '{}' has none",
              layers.front().mixer);
  }
  std::vector<ByKind> found(places.size());
  for (const WholeEpisode& trace : traces) {
    const Recorded recorded = record(model, trace, {"beta"});
    for (std::size_t i = 0; i < places.size(); ++i) {
      // [T * n, H]: n steps a token
      const at::Tensor all = recorded[static_cast<std::size_t>(places[i].layer)].at("beta");
      const at::Tensor beta = all.select(1, places[i].head).contiguous();
      const auto steps = static_cast<std::size_t>(beta.size(0)) / trace.ids.size();
      for (std::size_t t = 0; t < static_cast<std::size_t>(beta.size(0)); ++t) {
        found[i][static_cast<std::size_t>(trace.kinds[t / steps])].push_back(
            beta.data_ptr<double>()[t]);
      }
    }
  }
  Json by_layer = Json::array(), heads = Json::array(), kinds = Json::array();
  std::vector<double> layer;  // all heads of the layer so far
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Json place = {{"layer", places[i].layer}, {"head", places[i].head}};
    std::vector<double> all;
    for (std::size_t kind = 0; kind < kTokenKinds; ++kind) {
      std::vector<double>& betas = found[i][kind];
      if (betas.empty()) continue;
      all.insert(all.end(), betas.begin(), betas.end());
      Json with_kind = place;
      with_kind["kind"] = to_string(static_cast<TokenKind>(kind));
      kinds.push_back(row_of(with_kind, betas));
    }
    layer.insert(layer.end(), all.begin(), all.end());
    if (i + 1 == places.size() || places[i + 1].layer != places[i].layer) {
      by_layer.push_back(row_of({{"layer", places[i].layer}}, layer));
      layer.clear();
    }
    heads.push_back(row_of(place, all));
  }
  return {{"layers", by_layer}, {"heads", heads}, {"kinds", kinds}};
}

std::string betas_as_text(const Json& report) {
  std::string text = rows_as_text(report.at("heads"));
  Json medians = Json::array(), shares = Json::array();
  for (const Json& head : report.at("heads")) {
    Json median = {{"layer", head.at("layer")}, {"head", head.at("head")}}, share = median;
    for (const Json& row : report.at("kinds")) {
      if (row.at("layer") != head.at("layer") || row.at("head") != head.at("head")) continue;
      median[row.at("kind").get<std::string>()] = row.at("median");
      share[row.at("kind").get<std::string>()] = row.at("above_1.9");
    }
    medians.push_back(median);
    shares.push_back(share);
  }
  return text + "\nmedian by kind of token\n" + rows_as_text(medians) + "\nshare above 1.9\n" +
         rows_as_text(shares);
}

ProbeEntry betas_probe() {
  return {.name = "betas",
          .ask =
              [](const ProbeQuestion& question) {
                return probe_betas(question.model, question.episodes.all());
              },
          .as_text = betas_as_text,
          .csv_rows = "kinds",
          .needs_steps = false};
}

}  // namespace shellgame
