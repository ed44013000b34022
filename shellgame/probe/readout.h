// A linear readout by ridge regression: how much of some targets is in some features, judged on
// samples that were not fitted.
#pragma once

#include <ATen/core/Tensor.h>

namespace shellgame {

// targets ~ (features - mean) W + targets' mean.
struct Ridge {
  at::Tensor weights;  // [F, Y]
  at::Tensor feature_mean, target_mean;
  double penalty = 0;

  at::Tensor predict(const at::Tensor& features) const;  // [N, F] to [N, Y]
};

// Minimises |Y - X W|^2 + penalty |W|^2 over centred X [N, F] and Y [N, Y], in double, through the
// eigenvectors of X X^T: N may be smaller or larger than F.
Ridge fit_ridge(const at::Tensor& features, const at::Tensor& targets, double penalty);
// The same with the penalty, of 13 between 1e-9 and 1e3 times the mean eigenvalue, for which
// predictions of each sample from all others are best (leave one out, in closed form).
Ridge fit_ridge(const at::Tensor& features, const at::Tensor& targets);

// 1 - |Y - prediction|^2 / |Y - target_mean|^2, over all targets; 0 if the targets are constant.
double explained(const Ridge& ridge, const at::Tensor& features, const at::Tensor& targets);

}  // namespace shellgame
