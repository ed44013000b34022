#include "shellgame/probe/intervene.h"

#include <ATen/Functions.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "shellgame/models/model_predictor.h"
#include "shellgame/probe/probes.h"
#include "shellgame/probe/table.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRows = 16;  // side by side; even, so that a patch always has two

const std::vector<std::string> kWords = {"scale", "clamp", "ablate", "patch", "round"};
const std::set<std::string> kOfBlocks = {"block_input", "mixed", "block_output"};

at::Tensor changed(const Intervention& how, const at::Tensor& x) {
  switch (how.change) {
    case Change::kScale:
      return x * how.amount;
    case Change::kClamp:
      return x.clamp_max(how.amount);
    case Change::kAblate:
      return at::zeros_like(x);
    case Change::kPatch:
      return x.roll(-1, 0);
    case Change::kRound: {
      const at::Tensor whole = x.round();
      return at::where((x - whole).abs() <= how.amount, whole, x);
    }
  }
  fail("an intervention must be of a known kind");
}

bool has_tap(const LayerSpec& layer, const std::string& tap) {
  const std::vector<std::string>& taps = find_mixer(layer.mixer).taps;
  return kOfBlocks.contains(tap) || std::ranges::find(taps, tap) != taps.end();
}

bool has_amount(Change change) { return change != Change::kAblate && change != Change::kPatch; }

std::vector<double> amounts_of(const InterveneOptions& options) {
  if (!options.amounts.empty()) return options.amounts;
  if (options.change == Change::kScale) return {1, 0.9, 0.8, 0.7, 0.6, 0.5};
  if (options.change == Change::kClamp) return {2, 1.8, 1.6, 1.4, 1.2, 1};
  if (options.change == Change::kRound) return {0.01, 0.03, 0.1, 0.3, 0.5};
  return {0};
}

// The layers and heads that are changed in turn.
std::vector<Intervention> places_of(const Model& model, const InterveneOptions& options) {
  const std::vector<LayerSpec>& specs = model.config().spec().layers;
  const std::vector<LayerHeads> layers = heads_of(model);
  Intervention one{.change = options.change, .tap = options.tap};
  if (one.tap.empty()) {
    one.tap = has_amount(one.change) ? "beta" : "output";
  }
  if (one.change == Change::kPatch && one.tap == "state") {
    wrong_use(
        "a patch must be of a tap that holds all tokens at once: `probe state` moves states from "
        "trace to trace");
  }
  std::vector<Intervention> places;
  for (int i = 0; i < static_cast<int>(specs.size()); ++i) {
    const auto l = static_cast<std::size_t>(i);
    if ((options.layer >= 0 && options.layer != i) || !has_tap(specs[l], one.tap)) continue;
    one.layer = i;
    const int heads = kOfBlocks.contains(one.tap) ? 0 : layers[l].heads;
    for (int head = heads == 0 ? -1 : 0; head < heads; ++head) {
      if (options.head >= 0 && options.head != head) continue;
      one.head = head;
      places.push_back(one);
    }
  }
  if (places.empty()) {
    std::set<std::string> known = kOfBlocks;
    for (const LayerSpec& spec : specs) {
      for (const std::string& tap : find_mixer(spec.mixer).taps) known.insert(tap);
    }
    wrong_use(
        "the tap '{}' must be in a layer and head of the model that were named; it has {} layers "
        "and the taps {}",
        one.tap, specs.size(), fmt::join(known, ", "));
  }
  return places;
}

}  // namespace

Change parse_change(const std::string& word) {
  const auto found = std::ranges::find(kWords, word);
  if (found == kWords.end()) {
    wrong_use("an intervention must be one of {}, not '{}'", fmt::join(kWords, ", "), word);
  }
  return static_cast<Change>(found - kWords.begin());
}

Taps taps_of(const Intervention& how, int heads) {
  return {.wanted =
              [how](const TapPoint& point) {
                return point.layer == how.layer && point.name == how.tap;
              },
          .call =
              [how, heads](const TapPoint&, const at::Tensor& x) {
                if (how.head < 0) return changed(how, x);
                at::Tensor y = x.clone();
                const at::Tensor part = head_part(y, how.tap, how.head, heads);
                part.copy_(changed(how, part.clone()));
                return y;
              }};
}

Statistics accuracy_with(const Model& model, const Source& rows, std::uint64_t count,
                         const Taps* taps) {
  const Evaluation result = evaluate(model, rows, 0, count, {.rows = kRows}, taps);
  return statistics_of(result.tally, {.chance = rows.chance(), .length = rows.length()});
}

Json probe_intervene(const Model& model, const Source& rows, std::uint64_t count,
                     const InterveneOptions& options) {
  if (options.change == Change::kPatch && count % 2 != 0) {
    wrong_use("a patch needs an even count of traces, not {}: each gets what another has", count);
  }
  const std::vector<Intervention> places = places_of(model, options);
  const std::vector<LayerHeads> layers = heads_of(model);
  const double whole = accuracy_with(model, rows, count).accuracy.value;
  Json heads = Json::array();
  for (Intervention one : places) {
    for (const double amount : amounts_of(options)) {
      one.amount = amount;
      const Taps taps = taps_of(one, layers[static_cast<std::size_t>(one.layer)].heads);
      const Statistics seen = accuracy_with(model, rows, count, &taps);
      Json row = {{"layer", one.layer}, {"head", nullptr}};
      if (one.head >= 0) row["head"] = one.head;
      row["tap"] = one.tap;
      row["change"] = kWords[static_cast<std::size_t>(one.change)];
      row["amount"] = nullptr;
      if (has_amount(one.change)) row["amount"] = amount;
      row["accuracy"] = seen.accuracy.value;
      row["lost"] = whole - seen.accuracy.value;
      row["standard_error"] = seen.standard_error;
      heads.push_back(std::move(row));
    }
  }
  return {{"chance", rows.chance()}, {"accuracy", whole}, {"heads", heads}};
}

std::string intervene_as_text(const Json& report) {
  Json lines = Json::array();
  for (const Json& row : report.at("heads")) {
    if (lines.empty() || lines.back().at("layer") != row.at("layer") ||
        lines.back().at("head") != row.at("head")) {
      lines.push_back({{"layer", row.at("layer")},
                       {"head", row.at("head")},
                       {"tap", row.at("tap")},
                       {"change", row.at("change")}});
    }
    const Json& amount = row.at("amount");
    const std::string column =
        amount.is_null() ? "accuracy" : fmt::format("{:g}", amount.get<double>());
    lines.back()[column] = row.at("accuracy");
  }
  return fmt::format("accuracy without changes {:.4f}, chance {:.4f}\n",
                     report.at("accuracy").get<double>(), report.at("chance").get<double>()) +
         rows_as_text(lines);
}

// Judged on episodes that evaluation makes for itself.
ProbeEntry intervene_probe() {
  return {.name = "intervene",
          .ask =
              [](const ProbeQuestion& question) {
                const nlohmann::json& given = question.settings;
                return probe_intervene(question.model, question.episodes.source(), question.count,
                                       {.change = parse_change(given.value("change", "scale")),
                                        .tap = given.value("tap", ""),
                                        .layer = given.value("layer", -1),
                                        .head = given.value("head", -1),
                                        .amounts = given.value("amounts", std::vector<double>())});
              },
          .as_text = intervene_as_text,
          .keeps_episodes = false,
          .needs_steps = false};
}

}  // namespace shellgame
