#include "shellgame/train/weight_average.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

namespace shellgame {

WeightAverage::WeightAverage(const Model& model, double decay) : model_(model), decay_(decay) {
  if (decay_ <= 0) return;
  for (const Parameter& parameter : model_.parameters()) {
    const at::Tensor value = parameter.value.detach();
    // A mean in 16 bits would lose what it is for.
    means_.push_back(
        at::zeros_like(value, value.scalar_type() == at::kDouble ? at::kDouble : at::kFloat));
  }
}

void WeightAverage::add() {
  std::vector<at::Tensor> weights;
  for (const Parameter& parameter : model_.parameters()) weights.push_back(parameter.value);
  add(weights);
}

void WeightAverage::add(const std::vector<at::Tensor>& weights) {
  if (means_.empty()) return;
  const at::NoGradGuard no_gradients;
  ++steps_;
  const double way = std::max(1 - decay_, 1.0 / static_cast<double>(steps_));
  for (std::size_t i = 0; i < means_.size(); ++i) {
    const at::Tensor value = weights[i].detach().to(means_[i].scalar_type());
    // The first weights are copied, so that nothing of an older stage is left, not even a NaN.
    if (steps_ == 1) {
      means_[i].copy_(value);
    } else {
      means_[i].lerp_(value, way);
    }
  }
}

std::int64_t WeightAverage::bytes() const {
  std::int64_t sum = 0;
  for (const at::Tensor& mean : means_) sum += static_cast<std::int64_t>(mean.nbytes());
  return sum;
}

std::map<std::string, at::Tensor> WeightAverage::tensors() const {
  std::map<std::string, at::Tensor> all;
  for (std::size_t i = 0; i < means_.size(); ++i) all[model_.parameters()[i].name] = means_[i];
  return all;
}

WeightAverage::Scope::Scope(const WeightAverage& average) : average_(average) {
  if (average_.steps_ == 0) return;
  const at::NoGradGuard no_gradients;
  for (std::size_t i = 0; i < average_.means_.size(); ++i) {
    const at::Tensor value = average_.model_.parameters()[i].value.detach();
    weights_.push_back(value.clone());
    value.copy_(average_.means_[i]);
  }
}

WeightAverage::Scope::~Scope() {
  const at::NoGradGuard no_gradients;
  for (std::size_t i = 0; i < weights_.size(); ++i)
    average_.model_.parameters()[i].value.detach().copy_(weights_[i]);
}

}  // namespace shellgame
