// The stream of a block (the residual path): x [B, T, D], read through a norm, and added to. A
// mixer asks for projections of the normed stream and gives back the stream with its own output
// added; both are fused with their neighbours where kernels allow.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "shellgame/models/weights.h"

namespace shellgame {

// RMSNorm or LayerNorm over the last dimension.
struct Norm {
  at::Tensor weight;
  at::Tensor bias;  // LayerNorm's, may be undefined
  double eps = 1e-6;
  bool centred = false;  // LayerNorm

  at::Tensor operator()(const at::Tensor& x) const;
};

// The parameters `name`.weight (and .bias).
Norm make_norm(const Weights& weights, const std::string& name, const std::string& kind,
               std::int64_t width, double eps, bool bias);

class Stream {
 public:
  Stream(at::Tensor x, const Norm* norm) : x_(std::move(x)), norm_(norm) {}

  const at::Tensor& x() const { return x_; }
  const Norm* norm() const { return norm_; }
  // [B, T, D], through the norm.
  const at::Tensor& normed() const;
  // normed * W^T for each weight [out, D]; the results share one buffer.
  std::vector<at::Tensor> project(const std::vector<at::Tensor>& weights) const;
  // All projections side by side, [B, T, sum of outs].
  at::Tensor project_together(const std::vector<at::Tensor>& weights) const;
  // x + y.
  at::Tensor add(const at::Tensor& y) const;
  // x + o * W^T (+ bias).
  at::Tensor add_projected(const at::Tensor& o, const at::Tensor& weight,
                           const at::Tensor& bias = {}) const;

 private:
  mutable at::Tensor x_;  // a projection puts itself into its history, where both gradients meet
  const Norm* norm_;      // null: the stream itself
  mutable at::Tensor normed_;
};

}  // namespace shellgame
