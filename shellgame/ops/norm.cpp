#include "shellgame/ops/norm.h"

#include <ATen/Functions.h>

namespace shellgame {

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  at::Tensor y = x * (x.square().mean(-1, true) + eps).rsqrt();
  return weight.defined() ? y * weight : y;
}

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                      double eps) {
  return at::layer_norm(x, {x.size(-1)}, weight, bias, eps);
}

at::Tensor l2_norm(const at::Tensor& x, double eps) {
  return x * (x.square().sum(-1, true) + eps).rsqrt();
}

}  // namespace shellgame
