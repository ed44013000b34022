// How far a tensor is from its reference: the root of the mean square of the difference, over the
// reference's own.
#pragma once

#include <ATen/ATen.h>

namespace shellgame {

inline double rms_ratio(const at::Tensor& value, const at::Tensor& reference) {
  const at::Tensor wanted = reference.to(at::kDouble);
  return (value.to(at::kDouble) - wanted).square().mean().sqrt().item<double>() /
         (wanted.square().mean().sqrt().item<double>() + 1e-8);
}

}  // namespace shellgame
