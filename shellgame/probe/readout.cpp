#include "shellgame/probe/readout.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// X X^T = U diag(values) U^T of centred samples.
struct Parts {
  at::Tensor x, y, feature_mean, target_mean;  // x, y centred
  at::Tensor vectors, values;                  // [N, N], [N]
  at::Tensor rotated;                          // U^T y

  Parts(const at::Tensor& features, const at::Tensor& targets) {
    if (features.dim() != 2 || targets.dim() != 2 || features.size(0) != targets.size(0) ||
        features.size(0) < 2) {
      wrong_use("a readout needs features [N, F] and targets [N, Y] of at least two samples");
    }
    x = features.to(at::kDouble);
    y = targets.to(at::kDouble);
    feature_mean = x.mean(0);
    target_mean = y.mean(0);
    x = x - feature_mean;
    y = y - target_mean;
    std::tie(values, vectors) = at::linalg_eigh(at::matmul(x, x.t()), "L");
    values = values.clamp_min(0);
    rotated = at::matmul(vectors.t(), y);
  }

  // (X X^T + penalty)^-1 Y
  at::Tensor dual(double penalty) const {
    return at::matmul(vectors, rotated / (values + penalty).unsqueeze(1));
  }

  // The squared error of predicting each sample from all others: its residual over 1 - H_ii. The
  // mean takes 1/N of each sample's weight, as the direction of ones, which centring has emptied.
  double left_out(double penalty) const {
    const at::Tensor shares = (vectors.square() * (penalty / (values + penalty))).sum(1, true);
    const double mean = 1 / static_cast<double>(x.size(0));
    return (penalty * dual(penalty) / (shares - mean).clamp_min(1e-12))
        .square()
        .sum()
        .item<double>();
  }

  Ridge ridge(double penalty) const {
    return {.weights = at::matmul(x.t(), dual(penalty)),
            .feature_mean = feature_mean,
            .target_mean = target_mean,
            .penalty = penalty};
  }
};

}  // namespace

at::Tensor Ridge::predict(const at::Tensor& features) const {
  return at::matmul(features.to(at::kDouble) - feature_mean, weights) + target_mean;
}

Ridge fit_ridge(const at::Tensor& features, const at::Tensor& targets, double penalty) {
  if (!(penalty > 0))
    wrong_use("the penalty of a ridge regression must be above 0, not {}", penalty);
  return Parts(features, targets).ridge(penalty);
}

Ridge fit_ridge(const at::Tensor& features, const at::Tensor& targets) {
  const Parts parts(features, targets);
  // Constant features leave nothing to fit: any penalty then gives the mean.
  const double scale =
      std::max(parts.values.mean().item<double>(), std::numeric_limits<double>::min() * 1e20);
  double best = 0, least = std::numeric_limits<double>::infinity();
  for (int power = -9; power <= 3; ++power) {
    const double penalty = scale * std::pow(10.0, power);
    const double error = parts.left_out(penalty);
    if (error < least) {
      least = error;
      best = penalty;
    }
  }
  if (best == 0) fail("the features of a readout must be numbers, but are not");
  return parts.ridge(best);
}

double explained(const Ridge& ridge, const at::Tensor& features, const at::Tensor& targets) {
  const at::Tensor y = targets.to(at::kDouble);
  const double all = (y - ridge.target_mean).square().sum().item<double>();
  if (all == 0) return 0;
  return 1 - (y - ridge.predict(features)).square().sum().item<double>() / all;
}

}  // namespace shellgame
