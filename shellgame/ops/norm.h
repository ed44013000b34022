// Norms over the last dimension.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace shellgame {

// x / sqrt(mean(x^2) + eps) * weight; weight may be undefined.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

// (x - mean) / sqrt(var + eps) * weight + bias; both may be undefined.
at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                      double eps);

// x / sqrt(sum(x^2) + eps).
at::Tensor l2_norm(const at::Tensor& x, double eps = 1e-6);

// rms_norm(x, weight, eps) * activation(gate), all [B, T, H, X] with one weight [X] for all heads;
// activation: silu, swish or sigmoid.
at::Tensor gated_norm(const at::Tensor& x, const at::Tensor& weight, double eps,
                      const at::Tensor& gate, const std::string& activation);

}  // namespace shellgame
