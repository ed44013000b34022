#include "shellgame/probe/keys.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "shellgame/probe/probes.h"
#include "shellgame/probe/table.h"
#include "shellgame/probe/transitions.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kReflects = -0.9;          // an eigenvalue below it
constexpr std::size_t kMostCommands = 512;  // whose transitions are looked at

// What one head does: its keys, the eigenvalue of each step, the transition of each command.
struct HeadSteps {
  std::vector<at::Tensor> keys;  // [T, K] of each trace
  std::vector<double> eigenvalues;
  std::vector<at::Tensor> transitions;
  std::vector<std::vector<std::uint16_t>> sources;

  void add(const WholeEpisode& trace, const at::Tensor& k, const at::Tensor& beta,
           const at::Tensor& decay) {
    keys.push_back(k);
    const at::Tensor step = 1 - beta * k.square().sum(-1);
    eigenvalues.insert(eigenvalues.end(), step.data_ptr<double>(),
                       step.data_ptr<double>() + step.numel());
    const auto steps = k.size(0) / static_cast<std::int64_t>(trace.ids.size());
    for (const Step& command : trace.steps) {
      if (transitions.size() == kMostCommands) return;
      const auto from = static_cast<std::int64_t>(command.from) * steps;
      const auto size = static_cast<std::int64_t>(command.to - command.from) * steps;
      transitions.push_back(
          composed_transition(k.narrow(0, from, size), beta.narrow(0, from, size),
                              decay.defined() ? decay.narrow(0, from, size) : at::Tensor()));
      sources.push_back(command.sources);
    }
  }
};

// Distance to permutations: the basis from every second command, the measure from the others.
void add_permutations(const HeadSteps& head, Json& row) {
  std::vector<at::Tensor> fitted, measured;
  std::vector<std::vector<std::uint16_t>> fitted_sources, measured_sources;
  for (std::size_t c = 0; c < head.transitions.size(); ++c) {
    if (head.sources[c].empty()) continue;
    const bool even = (fitted.size() + measured.size()) % 2 == 0;
    (even ? fitted : measured).push_back(head.transitions[c]);
    (even ? fitted_sources : measured_sources).push_back(head.sources[c]);
  }
  row["distance"] = nullptr;
  row["from_own"] = nullptr;
  row["read_from_own"] = nullptr;
  row["permutation"] = nullptr;
  if (measured.empty() || measured_sources.front().size() < 2) return;
  const at::Tensor basis = permutation_basis(fitted, fitted_sources);
  const at::Tensor reading = reading_basis(fitted, fitted_sources);
  double distance = 0, from_own = 0, read_from_own = 0, right = 0;
  for (std::size_t c = 0; c < measured.size(); ++c) {
    const PermutationFit fit = nearest_permutation(measured[c], basis);
    distance += fit.distance;
    from_own += permutation_distance(measured[c], basis, measured_sources[c]);
    read_from_own += reading_distance(measured[c], reading, measured_sources[c]);
    right += fit.nearest == measured_sources[c] ? 1 : 0;
  }
  row["distance"] = distance / static_cast<double>(measured.size());
  row["from_own"] = from_own / static_cast<double>(measured.size());
  row["read_from_own"] = read_from_own / static_cast<double>(measured.size());
  row["permutation"] = right / static_cast<double>(measured.size());
}

std::vector<double> list_of(const at::Tensor& numbers) {
  const at::Tensor plain = numbers.to(at::kDouble).contiguous();
  return {plain.data_ptr<double>(), plain.data_ptr<double>() + plain.numel()};
}

Json row_of(const HeadPlace& place, HeadSteps& head) {
  const PrincipalParts parts = principal_parts(at::cat(head.keys, 0));
  const auto reflecting =
      std::ranges::count_if(head.eigenvalues, [](double e) { return e < kReflects; });
  Json row = {{"layer", place.layer},
              {"head", place.head},
              {"key_width", head.keys.front().size(1)},
              {"effective_rank", parts.effective_rank},
              {"components_90", parts.components(0.9)},
              {"components_99", parts.components(0.99)},
              {"reflecting",
               static_cast<double>(reflecting) / static_cast<double>(head.eigenvalues.size())}};
  add_permutations(head, row);
  row["commands"] = head.transitions.size();
  row["steps"] = distribution_of(head.eigenvalues);
  row["explained"] = parts.explained;
  if (!head.transitions.empty()) {
    const at::Tensor moduli = at::linalg_eigvals(at::stack(head.transitions)).abs();
    const at::Tensor sorted = std::get<0>(moduli.sort(-1, /*descending=*/true));
    row["spectrum"] = list_of(sorted.mean(0));
  }
  return row;
}

}  // namespace

std::size_t PrincipalParts::components(double share) const {
  const auto enough =
      std::ranges::find_if(explained, [&](double sum) { return sum >= share - 1e-12; });
  return static_cast<std::size_t>(enough - explained.begin()) + 1;
}

PrincipalParts principal_parts(const at::Tensor& keys) {
  const at::Tensor x = keys.to(at::kDouble);
  const at::Tensor centred = x - x.mean(0, true);
  const at::Tensor values =
      at::linalg_eigvalsh(at::matmul(centred.t(), centred), "L").clamp_min(0).flip(0);
  PrincipalParts parts;
  const double sum = values.sum().item<double>();
  double cumulative = 0, entropy = 0;
  for (const double value : list_of(values)) {
    const double share = sum > 0 ? value / sum : 0;
    cumulative += share;
    if (share > 0) entropy -= share * std::log(share);
    parts.explained.push_back(sum > 0 ? std::min(cumulative, 1.0) : 1.0);
  }
  parts.effective_rank = sum > 0 ? std::exp(entropy) : 0;
  return parts;
}

Json probe_keys(const Model& model, const std::vector<WholeEpisode>& traces) {
  const std::vector<LayerHeads> layers = heads_of(model);
  const std::vector<HeadPlace> places = heads_with(layers, &LayerHeads::beta);
  if (places.empty()) {
    wrong_use("keys must be asked of a mixer of the delta-rule family, not of '{}'",
              layers.front().mixer);
  }
  std::vector<std::string> names = {"k", "beta"};
  for (const LayerHeads& layer : layers) {
    if (layer.beta && !layer.declaration.decay_tap.empty())
      names.push_back(layer.declaration.decay_tap);
  }
  std::vector<HeadSteps> heads(places.size());
  for (const WholeEpisode& trace : traces) {
    const Recorded recorded = record(model, trace, names);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto& taps = recorded[static_cast<std::size_t>(places[i].layer)];
      const at::Tensor all_betas = taps.at("beta"), all_keys = taps.at("k");
      // Several heads of values may share one of keys.
      const std::int64_t key_head = places[i].head * all_keys.size(1) / all_betas.size(1);
      const at::Tensor k = all_keys.select(1, key_head).contiguous();
      const at::Tensor beta = all_betas.select(1, places[i].head).contiguous();
      const std::string& decay =
          layers[static_cast<std::size_t>(places[i].layer)].declaration.decay_tap;
      heads[i].add(trace, k, beta,
                   decay.empty()
                       ? at::Tensor()
                       : step_decays(taps.at(decay), places[i].head, k.size(0), k.size(1)));
    }
  }
  Json rows = Json::array();
  for (std::size_t i = 0; i < places.size(); ++i) rows.push_back(row_of(places[i], heads[i]));
  return {{"heads", rows}};
}

ProbeEntry keys_probe() {
  return {.name = "keys", .ask = [](const ProbeQuestion& question) {
            return probe_keys(question.model, question.episodes.all());
          }};
}

}  // namespace shellgame
