// AdamW over a list of parameters, with clipping of the whole gradient.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "shellgame/ops/master_weights.h"

namespace shellgame {

struct AdamWSettings {
  double beta1 = 0.9, beta2 = 0.95, eps = 1e-8;
  double decay = 0.1;  // decoupled, of the parameters that decay
  double clip = 1;     // the largest norm of all gradients together; 0: none
};

class AdamW {
 public:
  // `decays[i]` says whether weight decay is meant for parameters[i].
  AdamW(std::vector<at::Tensor> parameters, std::vector<bool> decays, AdamWSettings settings);

  // A weight decay and a factor on the learning rate for parameters[i] alone.
  void set_group(std::size_t i, double decay, double rate);

  // One step with the gradients (of .grad(); a parameter without one is left alone). Returns the
  // norm of all gradients before clipping; if that is not finite, nothing was changed.
  double step(double learning_rate);
  // The two halves of a step, for gradients that are clipped together with others.
  double norm() const;
  void apply(double learning_rate, double gradient_scale);
  void clear_gradients();

  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }
  // First and second moments, in the order of the parameters; for checkpoints.
  const std::vector<at::Tensor>& means() const { return means_; }
  const std::vector<at::Tensor>& squares() const { return squares_; }
  const MasterWeights& weights() const { return weights_; }

 private:
  MasterWeights weights_;
  std::vector<at::Tensor> means_, squares_;
  std::vector<double> decays_, rates_;
  AdamWSettings settings_;
  std::int64_t steps_ = 0;
};

}  // namespace shellgame
