// Linear maps beside a norm or a residual path. Weights are [out, in], without bias.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace shellgame {

struct NormLinear {
  at::Tensor
      x;  // as it came in: what goes on as the residual path, so that its gradient joins here
  at::Tensor y;  // [..., sum of outs]
};

// y = RMSNorm(x) [W1; W2; ...]^T. x [..., D], norm_weight [D].
NormLinear norm_linear(const at::Tensor& x, const at::Tensor& norm_weight, double eps,
                       const std::vector<at::Tensor>& weights);

// x + o W^T; x may be undefined.
at::Tensor linear_add(const at::Tensor& x, const at::Tensor& o, const at::Tensor& weight);

// x + (SiLU(n Wg^T) * (n Wu^T)) Wd^T with n = RMSNorm(x).
at::Tensor swiglu_mlp(const at::Tensor& x, const at::Tensor& norm_weight, double eps,
                      const at::Tensor& gate, const at::Tensor& up, const at::Tensor& down);

}  // namespace shellgame
