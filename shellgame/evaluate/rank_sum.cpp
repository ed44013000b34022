#include "shellgame/evaluate/rank_sum.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "shellgame/random/philox.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr std::size_t kMostPooled = 200;

// Twice the mid-rank of each number, so that all are whole.
std::vector<std::size_t> doubled_ranks(const std::vector<double>& pooled) {
  std::vector<std::size_t> order(pooled.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return pooled[i]; });
  std::vector<std::size_t> ranks(pooled.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && pooled[order[end]] == pooled[order[first]]) ++end;
    for (std::size_t k = first; k < end; ++k) ranks[order[k]] = first + 1 + end;
    first = end;
  }
  return ranks;
}

// By linear interpolation between the sorted numbers.
double quantile_of(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

double mann_whitney_greater(std::span<const double> high, std::span<const double> low) {
  if (high.empty() || low.empty()) wrong_use("a rank test needs at least one number a group");
  std::vector<double> pooled(high.begin(), high.end());
  pooled.insert(pooled.end(), low.begin(), low.end());
  if (std::ranges::any_of(pooled, [](double x) { return std::isnan(x); }))
    wrong_use("a rank test cannot order what is not a number");
  if (pooled.size() > kMostPooled)
    wrong_use("an exact rank test takes at most {} numbers, not {}", kMostPooled, pooled.size());
  const std::vector<std::size_t> ranks = doubled_ranks(pooled);
  const std::size_t seen = std::accumulate(
      ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(high.size()), std::size_t{0});
  const std::size_t most = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  // share[k][s]: of all ways to choose, those that have k so far with a rank sum of s; each number
  // joins the chosen ones with the probability that keeps all ways equally likely.
  std::vector<std::vector<double>> share(high.size() + 1, std::vector<double>(most + 1));
  share[0][0] = 1;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto left = static_cast<double>(ranks.size() - i);
    for (std::size_t k = std::min(i, high.size()) + 1; k-- > 0;) {
      const double joins = static_cast<double>(high.size() - k) / left;
      for (std::size_t s = most + 1; s-- > 0;) {
        const double here = share[k][s];
        if (here == 0) continue;
        if (k < high.size()) share[k + 1][s + ranks[i]] += here * joins;
        share[k][s] = here * (1 - joins);
      }
    }
  }
  double p = 0;
  for (std::size_t s = most + 1; s-- > seen;) p += share[high.size()][s];
  return std::min(1.0, p);
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(p.size() - k) * p[order[k]]));
    adjusted[order[k]] = largest;
  }
  return adjusted;
}

double median_of(std::span<const double> numbers) {
  if (numbers.empty()) wrong_use("there is no median of no numbers");
  std::vector<double> sorted(numbers.begin(), numbers.end());
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

Bounds bootstrap_interval(const std::vector<std::vector<double>>& groups,
                          const GroupStatistic& statistic, double confidence, std::uint64_t draws,
                          std::uint64_t seed) {
  if (draws < 1 || confidence <= 0 || confidence >= 1)
    wrong_use("a bootstrap needs at least one draw and a confidence between 0 and 1");
  for (const std::vector<double>& group : groups) {
    if (group.empty()) wrong_use("a bootstrap needs at least one number a group");
  }
  std::vector<double> values;
  std::vector<std::vector<double>> sample = groups;
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    RandomStream random(seed, draw, Lane::kBootstrap);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (double& number : sample[g])
        number = groups[g][random.below(static_cast<std::uint32_t>(groups[g].size()))];
    }
    values.push_back(statistic(sample));
  }
  std::ranges::sort(values);
  return {quantile_of(values, (1 - confidence) / 2), quantile_of(values, (1 + confidence) / 2)};
}

Bounds bootstrap_median(const std::vector<double>& numbers, double confidence, std::uint64_t draws,
                        std::uint64_t seed) {
  return bootstrap_interval(
      {numbers}, [](const auto& groups) { return median_of(groups[0]); }, confidence, draws, seed);
}

Bounds bootstrap_median_difference(const std::vector<double>& a, const std::vector<double>& b,
                                   double confidence, std::uint64_t draws, std::uint64_t seed) {
  return bootstrap_interval(
      {a, b}, [](const auto& groups) { return median_of(groups[0]) - median_of(groups[1]); },
      confidence, draws, seed);
}

}  // namespace shellgame
