#include "shellgame/evaluate/binomial.h"

#include <cmath>
#include <limits>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// log of Gamma, safe in threads (std::lgamma writes a global sign).
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

// The continued fraction of I_x(a, b), evaluated by Lentz's method; converges fast for
// x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](double y) { return std::abs(y) < kTiny ? kTiny : y; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), value = d;
  for (int m = 1; m < 100'000; ++m) {
    const double k = m;
    for (const double term : {k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k)),
                              -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      value *= d * c;
    }
    if (std::abs(d * c - 1) < 4 * std::numeric_limits<double>::epsilon()) break;
  }
  return value;
}

// The x at which I_x(a, b) = wanted; I grows with x.
double inverse_incomplete_beta(double a, double b, double wanted) {
  double low = 0, high = 1;
  while (true) {
    const double middle = (low + high) / 2;
    if (middle <= low || middle >= high) return middle;
    (incomplete_beta(a, b, middle) < wanted ? low : high) = middle;
  }
}

// Bounds for `successes` of `trials`, which need not be whole.
Bounds beta_bounds(double successes, double trials, double confidence) {
  const double tail = (1 - confidence) / 2;
  Bounds bounds;
  if (successes > 0) bounds.low = inverse_incomplete_beta(successes, trials - successes + 1, tail);
  if (successes < trials)
    bounds.high = inverse_incomplete_beta(successes + 1, trials - successes, 1 - tail);
  return bounds;
}

void check_confidence(double confidence) {
  if (!(confidence > 0 && confidence < 1))
    wrong_use("a confidence must be between 0 and 1, not {}", confidence);
}

}  // namespace

double student_quantile(double p, double degrees) {
  if (!(p > 0 && p < 1) || !(degrees > 0))
    wrong_use(
        "a quantile needs a share between 0 and 1 and degrees of freedom above 0, not {} and {}", p,
        degrees);
  if (p < 0.5) return -student_quantile(1 - p, degrees);
  // P(|T| < t) = 1 - I_x(degrees / 2, 1/2) with x = degrees / (degrees + t^2).
  const double x = inverse_incomplete_beta(degrees / 2, 0.5, 2 * (1 - p));
  return std::sqrt(degrees * (1 - x) / x);
}

Bounds clustered_bounds(std::span<const Cluster> clusters, double confidence) {
  check_confidence(confidence);
  double right = 0, of = 0, count = 0;
  for (const Cluster& cluster : clusters) {
    if (cluster.right > cluster.of)
      wrong_use("{} successes cannot come from {} trials", cluster.right, cluster.of);
    right += static_cast<double>(cluster.right);
    of += static_cast<double>(cluster.of);
    count += cluster.of > 0 ? 1 : 0;
  }
  if (of == 0) return {};
  const double share = right / of;
  double squares = 0;
  for (const Cluster& cluster : clusters) {
    const double off = static_cast<double>(cluster.right) - share * static_cast<double>(cluster.of);
    squares += off * off;
  }
  if (of == count) return beta_bounds(right, of, confidence);  // one trial each
  if (count < 2 || squares == 0) return beta_bounds(share * count, count, confidence);
  const double variance = squares * count / (count - 1) / (of * of);
  // As many independent trials would have this variance; the quantiles pay for its being estimated.
  const double p = (1 + confidence) / 2;
  const double by_trials = of > 1 ? student_quantile(p, of - 1) : 1,
               by_clusters = student_quantile(p, count - 1);
  const double trials = std::min(
      of, share * (1 - share) / variance * (by_trials / by_clusters) * (by_trials / by_clusters));
  return beta_bounds(share * trials, trials, confidence);
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double scale = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) +
                                b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return scale * beta_fraction(a, b, x) / a;
  return 1 - scale * beta_fraction(b, a, 1 - x) / b;
}

Bounds binomial_bounds(std::uint64_t successes, std::uint64_t trials, double confidence) {
  if (successes > trials) wrong_use("{} successes cannot come from {} trials", successes, trials);
  check_confidence(confidence);
  return beta_bounds(static_cast<double>(successes), static_cast<double>(trials), confidence);
}

Spread spread_of(std::span<const double> numbers) {
  if (numbers.empty()) wrong_use("a mean needs at least one number");
  const auto count = static_cast<double>(numbers.size());
  Spread spread;
  for (const double number : numbers) spread.mean += number / count;
  double squares = 0;
  for (const double number : numbers) squares += (number - spread.mean) * (number - spread.mean);
  if (numbers.size() > 1) spread.deviation = std::sqrt(squares / (count - 1));
  return spread;
}

}  // namespace shellgame
