#include "shellgame/probe/tracker.h"

#include <fmt/format.h>

#include <algorithm>

#include "shellgame/probe/betas.h"
#include "shellgame/probe/intervene.h"
#include "shellgame/probe/keys.h"
#include "shellgame/probe/probes.h"
#include "shellgame/probe/state.h"
#include "shellgame/probe/table.h"
#include "shellgame/probe/transplant.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

// The row of a head in a report, or null.
const Json* row_of(const Json& rows, const HeadPlace& place) {
  for (const Json& row : rows) {
    if (row.at("layer") == place.layer && row.at("head") == place.head) return &row;
  }
  return nullptr;
}

struct Candidate {
  HeadPlace place;
  bool beta = false;
  Readout readout;
  std::optional<Transplant> moved = {};
  std::optional<double> ablated = {}, halved = {};  // accuracies
  double follows() const { return moved ? moved->follows : 0; }
};

Json optional(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

Json json_of(const Candidate& one, const Json& betas, const Json& keys) {
  Json row = {{"layer", one.place.layer}, {"head", one.place.head}};
  const bool asked = one.moved && one.moved->questions > 0;
  row["follows"] = asked ? Json(one.moved->follows) : Json();
  row["stays"] = asked ? Json(one.moved->stays) : Json();
  row["readout"] = one.readout.accuracy;
  row["exact"] = one.readout.exact;
  row["belief"] = optional(one.readout.belief);
  row["ablated"] = optional(one.ablated);
  row["halved"] = optional(one.halved);
  const Json* beta = row_of(betas, one.place);
  row["above_1.9"] = beta ? beta->at("above_1.9") : Json();
  const Json* key = row_of(keys, one.place);
  for (const char* name : {"effective_rank", "from_own", "permutation"}) {
    row[name] = key ? key->at(name) : Json();
  }
  return row;
}

// Why the best head is not the tracker; empty if it is. `largest_beta` of that head, if it has any.
std::string objection(const Candidate& best, const Statistics& whole, double chance, double bayes,
                      bool certain, const std::optional<double>& largest_beta) {
  const double known = (whole.accuracy.value - chance) / std::max(1e-9, bayes - chance);
  if (known < kLeastKnown) {
    return fmt::format(
        "the model does not follow the state: accuracy {:.3f}, chance {:.3f}, Bayes {:.3f}",
        whole.accuracy.value, chance, bayes);
  }
  const auto lost = [&](double accuracy) {
    return (whole.accuracy.value - accuracy) / (whole.accuracy.value - chance);
  };
  const std::string name = fmt::format("layer {}, head {}", best.place.layer, best.place.head);
  if (best.follows() < kLeastFollows) {
    return fmt::format("no single head's state carries the answers: the best, {}, moves {:.3f}",
                       name, best.follows());
  }
  if (lost(best.ablated.value_or(whole.accuracy.value)) < kLeastLost) {
    return fmt::format("the model does without {}: accuracy {:.3f} when its output is zero", name,
                       *best.ablated);
  }
  // Commands of an uncertain task mix, which needs no reflection.
  if (certain && largest_beta && *largest_beta <= 1) {
    return fmt::format("no step of {} can reflect: its largest beta is {:.3f}", name,
                       *largest_beta);
  }
  if (certain && best.halved && lost(*best.halved) < kLeastLost) {
    return fmt::format("{} needs no reflections: accuracy {:.3f} with beta halved", name,
                       *best.halved);
  }
  return {};
}

}  // namespace

Json find_tracker(const Model& model, const WholeEpisodes& traces, const TrackerOptions& options) {
  const std::vector<LayerHeads> layers = heads_of(model);
  const std::vector<HeadPlace> heads = heads_with_state(layers);
  const std::uint64_t judged = std::min<std::uint64_t>(options.judged, traces.all().size());
  const Statistics whole = accuracy_with(model, traces.source(), judged);
  const double chance = traces.source().chance();
  const double bayes = traces.source().has_beliefs() ? whole.mean.bayes_accuracy : 1;

  std::vector<Candidate> all;
  for (const Readout& readout : read_states(model, traces, heads, options.places)) {
    all.push_back({.place = readout.place,
                   .beta = layers[static_cast<std::size_t>(readout.place.layer)].beta,
                   .readout = readout});
  }
  std::ranges::stable_sort(all, std::greater(),
                           [](const Candidate& one) { return one.readout.accuracy; });
  std::vector<HeadPlace> moved;
  for (std::size_t i = 0; i < std::min(options.transplanted, all.size()); ++i) {
    moved.push_back(all[i].place);
  }
  const auto transplants = transplant_states(model, traces.all(), moved, 4);
  for (std::size_t i = 0; i < transplants.size(); ++i) all[i].moved = transplants[i];
  std::ranges::stable_sort(all, std::greater(), &Candidate::follows);

  for (std::size_t i = 0; i < std::min(options.confirmed, all.size()); ++i) {
    const HeadPlace& place = all[i].place;
    const int own_heads = layers[static_cast<std::size_t>(place.layer)].heads;
    const auto with = [&](const Intervention& change) {
      const Taps taps = taps_of(change, own_heads);
      return accuracy_with(model, traces.source(), judged, &taps).accuracy.value;
    };
    all[i].ablated = with(
        {.change = Change::kAblate, .tap = "output", .layer = place.layer, .head = place.head});
    if (!all[i].beta) continue;
    all[i].halved = with({.change = Change::kScale,
                          .tap = "beta",
                          .layer = place.layer,
                          .head = place.head,
                          .amount = 0.5});
  }

  Json betas = Json::array(), keys = Json::array();
  if (!heads_with(layers, &LayerHeads::beta).empty()) {
    const auto end = traces.all().begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(
                                                options.looked_at_keys, traces.all().size()));
    const std::vector<WholeEpisode> some(traces.all().begin(), end);
    betas = probe_betas(model, some).at("heads");
    keys = probe_keys(model, some).at("heads");
  }
  std::optional<double> largest_beta;
  if (const Json* row = row_of(betas, all.front().place)) {
    largest_beta = row->at("max").get<double>();
  }
  const std::string reason =
      objection(all.front(), whole, chance, bayes, traces.source().is_certain(), largest_beta);
  Json rows = Json::array();
  for (const Candidate& one : all) rows.push_back(json_of(one, betas, keys));
  return {{"tracker", reason.empty() ? rows.front() : Json()},
          {"reason", reason.empty() ? fmt::format("the state-tracking head is layer {}, head {}",
                                                  all.front().place.layer, all.front().place.head)
                                    : reason},
          {"accuracy", whole.accuracy.value},
          {"chance", chance},
          {"bayes_accuracy", bayes},
          {"heads", rows}};
}

namespace {

std::string tracker_as_text(const nlohmann::ordered_json& report) {
  return fmt::format("{}\naccuracy {:.4f}, chance {:.4f}\n", report.at("reason").get<std::string>(),
                     report.at("accuracy").get<double>(), report.at("chance").get<double>()) +
         rows_as_text(report.at("heads"));
}

}  // namespace

ProbeEntry tracker_probe() {
  return {.name = "find-tracker",
          .ask =
              [](const ProbeQuestion& question) {
                return find_tracker(question.model, question.episodes,
                                    {.places = asked_places(question)});
              },
          .as_text = tracker_as_text};
}

}  // namespace shellgame
