// Comparing two small groups of numbers without assuming a distribution: the Mann-Whitney test by
// counting, Holm's correction for several tests, and bootstrap intervals.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "shellgame/evaluate/binomial.h"

namespace shellgame {

// The one-sided p value that `high` tends to larger numbers than `low`: the share of all ways to
// divide the pooled numbers into groups of these sizes whose rank sum of the first is at least the
// one that is seen. Exact, ties included (they have mid-ranks). O(n^2 * sum of ranks) time. Throws
// UsageError for an empty group, NaN, or more than 200 numbers.
double mann_whitney_greater(std::span<const double> high, std::span<const double> low);

// Adjusted p values (Holm 1979), in the order that was given: each is compared with the level of
// the family.
std::vector<double> holm(std::span<const double> p);

// The median; of an even number the mean of the middle two. Throws UsageError if there is none.
double median_of(std::span<const double> numbers);

// The interval between the quantiles (1 - confidence) / 2 and (1 + confidence) / 2 of a statistic
// over `draws` bootstrap samples (percentile method, linear interpolation). Each group is resampled
// alone. A pure function of its arguments: sample i is drawn from (seed, i).
using GroupStatistic = std::function<double(const std::vector<std::vector<double>>& groups)>;
Bounds bootstrap_interval(const std::vector<std::vector<double>>& groups,
                          const GroupStatistic& statistic, double confidence,
                          std::uint64_t draws = 10'000, std::uint64_t seed = 0);
Bounds bootstrap_median(const std::vector<double>& numbers, double confidence,
                        std::uint64_t draws = 10'000, std::uint64_t seed = 0);
// Of median(a) - median(b).
Bounds bootstrap_median_difference(const std::vector<double>& a, const std::vector<double>& b,
                                   double confidence, std::uint64_t draws = 10'000,
                                   std::uint64_t seed = 0);

}  // namespace shellgame
