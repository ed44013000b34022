#include "shellgame/decay/marginal_error.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "shellgame/automata/from_program.h"
#include "shellgame/beliefs/sinkhorn.h"
#include "shellgame/system/threads.h"
#include "shellgame/tasks/sampler.h"

namespace shellgame {
namespace {

// Sums over the reveals of one trace.
struct Sums {
  std::uint64_t reveals = 0, finite = 0, finite_loss = 0, infinite = 0, unconverged = 0,
                vanished = 0;
  double variation = 0, divergence = 0, largest_variation = 0, largest_divergence = 0;
  double other_guess = 0, exact_loss = 0, decoder_loss = 0, variation_of_all = 0;
};

double variation(std::span<const double> p, std::span<const double> q) {
  double sum = 0;
  for (std::size_t k = 0; k < p.size(); ++k) sum += std::abs(p[k] - q[k]);
  return sum / 2;
}

double divergence(std::span<const double> p, std::span<const double> q) {
  double sum = 0;
  for (std::size_t k = 0; k < p.size(); ++k) {
    if (p[k] > 0) sum += p[k] * std::log(p[k] / q[k]);
  }
  return std::max(sum, 0.0);
}

// Whether what q holds most likely is less likely under p than p's own best; ties are agreement.
bool guesses_differ(std::span<const double> p, std::span<const double> q) {
  const auto best = static_cast<std::size_t>(std::ranges::max_element(q) - q.begin());
  return p[best] < std::ranges::max(p) - 1e-9;
}

void compare(const Filter& exact, const Filter& marginal, const Cell& cell,
             const MarginalErrorOptions& options, Sums& sums) {
  const std::size_t n = exact.automaton().space().degree();
  Sinkhorn decoded;
  try {
    decoded = sinkhorn(marginal.state(), n, options.tolerance, options.rounds);
  } catch (const NothingToDecode&) {
    ++sums.vanished;
    return;
  }
  ++sums.reveals;
  sums.unconverged += decoded.residual > options.tolerance;
  const std::vector<double> truth = exact.marginals();
  // Rows are normalised once more, since an unconverged matrix has them only nearly.
  for (std::size_t v = 0; v < n; ++v) {
    const auto row = std::span(decoded.matrix).subspan(v * n, n);
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& x : row) x /= sum;
  }
  for (std::size_t v = 0; v < n; ++v) {
    sums.variation_of_all +=
        variation(std::span(truth).subspan(v * n, n), std::span(decoded.matrix).subspan(v * n, n)) /
        static_cast<double>(n);
  }
  const auto p = std::span(truth).subspan(cell.variable * n, n);
  const auto q = std::span<const double>(decoded.matrix).subspan(cell.variable * n, n);
  const double distance = variation(p, q), nats = divergence(p, q);
  sums.variation += distance;
  sums.largest_variation = std::max(sums.largest_variation, distance);
  if (std::isfinite(nats)) {
    ++sums.finite;
    sums.divergence += nats;
    sums.largest_divergence = std::max(sums.largest_divergence, nats);
  } else {
    ++sums.infinite;
  }
  sums.other_guess += guesses_differ(p, q);
  const ValueId seen = cell.values[0];
  if (q[seen] > 0) {
    ++sums.finite_loss;
    sums.exact_loss -= std::log(p[seen]);
    sums.decoder_loss -= std::log(q[seen]);
  }
}

Sums run_trace(const Sampler& sampler, const MarginalErrorOptions& options, std::uint64_t index) {
  const ProgramWord word = word_of(sampler.sample(options.seed, index));
  const auto exact = make_exact_filter(word.automaton);
  const auto marginal = make_filter(word.automaton, {.kind = FilterKind::kMarginal});
  Sums sums;
  for (SymbolId id : word.word) {
    const Symbol& symbol = word.automaton.symbol(id);
    if (const auto* cells = std::get_if<Cells>(&symbol.reveal)) {
      if (cells->cells.size() != 1 || cells->cells[0].values.size() != 1)
        wrong_use("the marginal error needs reveals of one variable's value, and '{}' is another",
                  symbol.name);
      compare(*exact, *marginal, cells->cells[0], options, sums);
    }
    exact->step(id);
    marginal->step(id);
  }
  return sums;
}

// Over the traces that have an observation.
template <class Observe>
Mean mean_of(const std::vector<Sums>& all, Observe observe) {
  double count = 0, sum = 0, squares = 0;
  for (const Sums& sums : all) {
    const auto [total, weight] = observe(sums);
    if (weight == 0) continue;
    const double x = total / static_cast<double>(weight);
    ++count;
    sum += x;
    squares += x * x;
  }
  if (count < 1) return {};
  const double mean = sum / count;
  const double variance =
      count > 1 ? std::max(0.0, squares / count - mean * mean) / (count - 1) : 0;
  return {mean, std::sqrt(variance)};
}

}  // namespace

MarginalError marginal_error(const Task& task, const MarginalErrorOptions& options) {
  const Sampler sampler(task);
  std::vector<Sums> all(options.traces);
  parallel_for(all.size(), [&](std::size_t i) {
    all[i] = run_trace(sampler, options, options.first_index + i);
  });
  MarginalError result;
  result.traces = options.traces;
  for (const Sums& sums : all) {
    result.reveals += sums.reveals;
    result.infinite += sums.infinite;
    result.unconverged += sums.unconverged;
    result.vanished += sums.vanished;
    result.largest_variation = std::max(result.largest_variation, sums.largest_variation);
    result.largest_divergence = std::max(result.largest_divergence, sums.largest_divergence);
  }
  const auto over = [&](double Sums::*total, std::uint64_t Sums::*weight) {
    return mean_of(all, [=](const Sums& sums) { return std::pair(sums.*total, sums.*weight); });
  };
  result.total_variation = over(&Sums::variation, &Sums::reveals);
  result.divergence = over(&Sums::divergence, &Sums::finite);
  result.other_guess = over(&Sums::other_guess, &Sums::reveals);
  result.exact_loss = over(&Sums::exact_loss, &Sums::finite_loss);
  result.decoder_loss = over(&Sums::decoder_loss, &Sums::finite_loss);
  result.variation_of_all = over(&Sums::variation_of_all, &Sums::reveals);
  return result;
}

std::vector<double> permanent_marginals(const std::vector<double>& matrix, std::size_t n) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> result(n * n);
  double permanent = 0;
  do {
    double weight = 1;
    for (std::size_t v = 0; v < n; ++v) weight *= matrix[v * n + order[v]];
    permanent += weight;
    for (std::size_t v = 0; v < n; ++v) result[v * n + order[v]] += weight;
  } while (std::ranges::next_permutation(order).found);
  if (!(permanent > 0)) fail("the permanent of the matrix must be above zero, not {}", permanent);
  for (double& x : result) x /= permanent;
  return result;
}

}  // namespace shellgame
