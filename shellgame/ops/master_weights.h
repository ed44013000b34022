// The numbers that an optimiser changes. A step of training is far smaller than the distance of two
// neighbours in 16 bits: such parameters have a master in fp32 that the steps add up in, and are
// rounded from it after each step. Wider parameters are their own masters.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <vector>

namespace shellgame {

class MasterWeights {
 public:
  explicit MasterWeights(std::vector<at::Tensor> parameters);

  std::size_t size() const { return parameters_.size(); }
  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  // What a step changes: shared with the parameter, or its master.
  const std::vector<at::Tensor>& values() const { return values_; }
  // Whether parameter i has a master beside it.
  bool apart(std::size_t i) const { return !values_[i].is_same(parameters_[i]); }

  // Zeros for a moment of parameter i, of the kind of its master.
  at::Tensor zeros(std::size_t i) const;
  // The gradient of parameter i, contiguous and of the kind of its master; undefined if there is
  // none.
  at::Tensor gradient(std::size_t i) const;
  void clear_gradients();
  // After the values have changed.
  void round_parameters();

 private:
  std::vector<at::Tensor> parameters_, values_;
};

}  // namespace shellgame
