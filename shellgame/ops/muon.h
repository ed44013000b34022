// Muon (Jordan et al. 2024): momentum whose update of a matrix is made orthogonal by five steps of
// a Newton-Schulz iteration. For matrices inside a network.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "shellgame/ops/master_weights.h"

namespace shellgame {

// The matrix U V^T nearest to `matrix` = U S V^T, roughly: singular values end between 0.7 and 1.2.
at::Tensor nearly_orthogonal(const at::Tensor& matrix);

struct MuonSettings {
  double momentum = 0.95;
  double decay = 0;
};

class Muon {
 public:
  Muon(std::vector<at::Tensor> matrices, MuonSettings settings);

  const MasterWeights& weights() const { return weights_; }
  void clear_gradients() { weights_.clear_gradients(); }
  void set_group(std::size_t i, double decay, double rate);
  // A step with the gradients times `gradient_scale`; Nesterov's form. An update of [rows, columns]
  // is scaled by sqrt(max(1, rows / columns)).
  void apply(double learning_rate, double gradient_scale);

  // For checkpoints.
  const std::vector<at::Tensor>& momenta() const { return momenta_; }

 private:
  MasterWeights weights_;
  std::vector<at::Tensor> momenta_;
  std::vector<double> decays_, rates_;
  MuonSettings settings_;
};

}  // namespace shellgame
