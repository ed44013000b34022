#include "shellgame/probe/keys.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "shellgame/probe/table.h"
#include "shellgame/system/error.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kReflects = -0.9;          // an eigenvalue below it
constexpr std::size_t kMostCommands = 512;  // whose transitions are looked at

// Columns: an orthonormal basis [n, n - 1] of the vectors that sum to zero (Helmert's).
at::Tensor zero_sum_basis(std::int64_t n) {
  at::Tensor basis = at::zeros({n, n - 1}, at::kDouble);
  for (std::int64_t d = 0; d + 1 < n; ++d) {
    const auto before = static_cast<double>(d + 1);
    const double scale = 1 / std::sqrt(before * (before + 1));
    basis.narrow(0, 0, d + 1).select(1, d).fill_(scale);
    basis[d + 1][d].fill_(-before * scale);
  }
  return basis;
}

// P [n, n] with P[v, sources[v]] = 1.
at::Tensor matrix_of(const std::vector<std::uint16_t>& sources) {
  const auto n = static_cast<std::int64_t>(sources.size());
  at::Tensor matrix = at::zeros({n, n}, at::kDouble);
  for (std::int64_t v = 0; v < n; ++v) {
    matrix[v][sources[static_cast<std::size_t>(v)]].fill_(1);
  }
  return matrix;
}

// What one head does: its keys, the eigenvalue of each step, the transition of each command.
struct HeadSteps {
  std::vector<at::Tensor> keys;  // [T, K] of each trace
  std::vector<double> eigenvalues;
  std::vector<at::Tensor> transitions;
  std::vector<std::vector<std::uint16_t>> sources;

  void add(const ProbeTrace& trace, const at::Tensor& k, const at::Tensor& beta,
           const at::Tensor& decay) {
    keys.push_back(k);
    const at::Tensor step = 1 - beta * k.square().sum(-1);
    eigenvalues.insert(eigenvalues.end(), step.data_ptr<double>(),
                       step.data_ptr<double>() + step.numel());
    const auto steps = k.size(0) / static_cast<std::int64_t>(trace.ids.size());
    for (const ProbeCommand& command : trace.commands) {
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

// Decays of a head by step and key channel, [T * n, K], or undefined.
at::Tensor decay_of(const std::map<std::string, at::Tensor>& taps, int head, std::int64_t steps,
                    std::int64_t width) {
  for (const char* name : {"decay", "left"}) {
    const auto found = taps.find(name);
    if (found == taps.end()) continue;
    at::Tensor decay = found->second.select(1, head);  // [T] or [T, K]
    if (decay.dim() == 1) decay = decay.unsqueeze(1).expand({-1, width});
    const std::int64_t each = steps / decay.size(0);  // acts at the first step of a token
    at::Tensor all = at::zeros({decay.size(0), each, width}, at::kDouble);
    all.select(1, 0).copy_(decay);
    return all.flatten(0, 1);
  }
  return {};
}

std::vector<std::uint16_t> inverse(const std::vector<std::uint16_t>& sources) {
  std::vector<std::uint16_t> back(sources.size());
  for (std::size_t v = 0; v < sources.size(); ++v) {
    back[sources[v]] = static_cast<std::uint16_t>(v);
  }
  return back;
}

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
    read_from_own +=
        permutation_distance(measured[c].t().contiguous(), reading, inverse(measured_sources[c]));
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

at::Tensor composed_transition(const at::Tensor& keys, const at::Tensor& betas,
                               const at::Tensor& decays) {
  const std::int64_t steps = keys.size(0), width = keys.size(1);
  const at::Tensor k = keys.contiguous(), b = betas.contiguous();
  const at::Tensor scale = decays.defined() ? decays.exp().contiguous() : at::Tensor();
  at::Tensor product = at::eye(width, at::kDouble);
  double* a = product.data_ptr<double>();
  std::vector<double> along(static_cast<std::size_t>(width));
  for (std::int64_t t = 0; t < steps; ++t) {
    const double* key = k.data_ptr<double>() + t * width;
    std::ranges::fill(along, 0.0);
    for (std::int64_t i = 0; i < width; ++i) {
      for (std::int64_t j = 0; j < width; ++j) {
        if (scale.defined()) a[i * width + j] *= scale.data_ptr<double>()[t * width + i];
        along[static_cast<std::size_t>(j)] += key[i] * a[i * width + j];
      }
    }
    const double beta = b.data_ptr<double>()[t];
    for (std::int64_t i = 0; i < width; ++i) {
      for (std::int64_t j = 0; j < width; ++j) {
        a[i * width + j] -= beta * key[i] * along[static_cast<std::size_t>(j)];
      }
    }
  }
  return product;
}

at::Tensor permutation_basis(const std::vector<at::Tensor>& transitions,
                             const std::vector<std::vector<std::uint16_t>>& sources) {
  const std::int64_t width = transitions.front().size(0);
  const auto n = static_cast<std::int64_t>(sources.front().size());
  const at::Tensor zero_sum = zero_sum_basis(n);
  // |A Q - Q r|^2 with R = Q E^T and r = E^T P E, as a quadratic form in the numbers of Q, row by
  // row: r is orthogonal, so Q r has the length of Q.
  const at::Tensor same = at::eye(n - 1, at::kDouble);
  at::Tensor form = at::zeros({width * (n - 1), width * (n - 1)}, at::kDouble);
  at::Tensor squares = at::zeros({width, width}, at::kDouble);
  for (std::size_t c = 0; c < transitions.size(); ++c) {
    const at::Tensor& a = transitions[c];
    const at::Tensor r = at::matmul(zero_sum.t(), at::matmul(matrix_of(sources[c]), zero_sum));
    squares += at::matmul(a.t(), a);
    form -= at::kron(a.t().contiguous(), r.t().contiguous()) + at::kron(a, r);
  }
  form += at::kron(squares, same) +
          static_cast<double>(transitions.size()) * at::eye(width * (n - 1), at::kDouble);
  const at::Tensor vectors = std::get<1>(at::linalg_eigh(form, "L"));
  return at::matmul(vectors.select(1, 0).reshape({width, n - 1}), zero_sum.t());
}

at::Tensor reading_basis(const std::vector<at::Tensor>& transitions,
                         const std::vector<std::vector<std::uint16_t>>& sources) {
  std::vector<at::Tensor> turned;
  std::vector<std::vector<std::uint16_t>> back;
  for (const at::Tensor& a : transitions) turned.push_back(a.t().contiguous());
  for (const auto& one : sources) back.push_back(inverse(one));
  return permutation_basis(turned, back);
}

double permutation_distance(const at::Tensor& transition, const at::Tensor& basis,
                            const std::vector<std::uint16_t>& sources) {
  const at::Tensor gap = at::matmul(transition, basis) - at::matmul(basis, matrix_of(sources));
  return (gap.norm() / basis.norm()).item<double>();
}

PermutationFit nearest_permutation(const at::Tensor& transition, const at::Tensor& basis) {
  const auto n = static_cast<std::size_t>(basis.size(1));
  // |A R - R P|^2 is least where the sum over v of <(A R)_u, R_v> P[v, u] is largest.
  const at::Tensor scores = at::matmul(basis.t(), at::matmul(transition, basis)).contiguous();
  PermutationFit fit;
  fit.nearest = best_assignment({scores.data_ptr<double>(), scores.data_ptr<double>() + n * n}, n);
  fit.distance = permutation_distance(transition, basis, fit.nearest);
  return fit;
}

std::vector<std::uint16_t> best_assignment(const std::vector<double>& scores, std::size_t n) {
  // Costs are minus the scores; rows enter one by one, along shortest paths of reduced costs.
  constexpr double kFar = std::numeric_limits<double>::infinity();
  std::vector<double> row_price(n + 1), column_price(n + 1);
  std::vector<std::size_t> row_of_column(n + 1), before(n + 1);  // counted from 1; 0: none
  for (std::size_t row = 1; row <= n; ++row) {
    row_of_column[0] = row;
    std::size_t column = 0;
    std::vector<double> shortest(n + 1, kFar);
    std::vector<bool> used(n + 1);
    do {
      used[column] = true;
      const std::size_t from = row_of_column[column];
      std::size_t next = 0;
      double step = kFar;
      for (std::size_t j = 1; j <= n; ++j) {
        if (used[j]) continue;
        const double reduced = -scores[(from - 1) * n + j - 1] - row_price[from] - column_price[j];
        if (reduced < shortest[j]) {
          shortest[j] = reduced;
          before[j] = column;
        }
        if (shortest[j] < step) {
          step = shortest[j];
          next = j;
        }
      }
      if (next == 0) fail("scores of an assignment must be numbers, but are not");
      for (std::size_t j = 0; j <= n; ++j) {
        if (used[j]) {
          row_price[row_of_column[j]] += step;
          column_price[j] -= step;
        } else {
          shortest[j] -= step;
        }
      }
      column = next;
    } while (row_of_column[column] != 0);
    for (; column != 0; column = before[column])
      row_of_column[column] = row_of_column[before[column]];
  }
  std::vector<std::uint16_t> sources(n);
  for (std::size_t j = 1; j <= n; ++j) {
    sources[row_of_column[j] - 1] = static_cast<std::uint16_t>(j - 1);
  }
  return sources;
}

Json probe_keys(const Model& model, const std::vector<ProbeTrace>& traces) {
  const std::vector<LayerHeads> layers = heads_of(model);
  const std::vector<HeadPlace> places = heads_with(layers, &LayerHeads::beta);
  if (places.empty()) {
    wrong_use("keys must be asked of a mixer of the delta-rule family, and '{}' is none",
              layers.front().mixer);
  }
  std::vector<HeadSteps> heads(places.size());
  for (const ProbeTrace& trace : traces) {
    const Recorded recorded = record(model, trace, {"k", "beta", "decay", "left"});
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto& taps = recorded[static_cast<std::size_t>(places[i].layer)];
      const at::Tensor all_betas = taps.at("beta"), all_keys = taps.at("k");
      // Several heads of values may share one of keys.
      const std::int64_t key_head = places[i].head * all_keys.size(1) / all_betas.size(1);
      const at::Tensor k = all_keys.select(1, key_head).contiguous();
      const at::Tensor beta = all_betas.select(1, places[i].head).contiguous();
      heads[i].add(trace, k, beta, decay_of(taps, places[i].head, k.size(0), k.size(1)));
    }
  }
  Json rows = Json::array();
  for (std::size_t i = 0; i < places.size(); ++i) rows.push_back(row_of(places[i], heads[i]));
  return {{"heads", rows}};
}

}  // namespace shellgame
