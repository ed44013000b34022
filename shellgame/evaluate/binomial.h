// Bounds for a probability of which only counts are known: exact ones (Clopper and Pearson 1934),
// and for trials in clusters; the mean and spread of some numbers.
#pragma once

#include <cstdint>
#include <span>

namespace shellgame {

struct Bounds {
  double low = 0, high = 1;
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

// The probabilities p for which neither "so many or more" nor "so many or fewer" successes has a
// chance below (1 - confidence) / 2. Covers the true p at least as often as `confidence` says, if
// the trials are independent. No trials: [0, 1]. Throws UsageError if successes > trials or the
// confidence is not between 0 and 1.
Bounds binomial_bounds(std::uint64_t successes, std::uint64_t trials, double confidence = 0.95);

// Successes and trials that belong together, such as the reveals of one trace.
struct Cluster {
  std::uint64_t right = 0, of = 0;
};
// Bounds for a share whose trials come in clusters and are not independent within one (Korn and
// Graubard 1998): those of binomial_bounds for as many trials as give the variance that the
// clusters show, corrected for how few clusters there are. Where they show none (all right, or all
// wrong), or there is one only, each cluster counts as one trial.
Bounds clustered_bounds(std::span<const Cluster> clusters, double confidence = 0.95);

// The t below which a share p of Student's distribution lies, 0 < p < 1; degrees of freedom > 0.
double student_quantile(double p, double degrees);

// I_x(a, b), the regularised incomplete beta function: the chance of a or more successes in
// a + b - 1 trials of probability x. a, b > 0, 0 <= x <= 1.
double incomplete_beta(double a, double b, double x);

struct Spread {
  double mean = 0;
  double deviation = 0;  // of a sample (divided by count - 1); 0 for a single number
};
// Throws UsageError if there is no number.
Spread spread_of(std::span<const double> numbers);

}  // namespace shellgame
