#include "shellgame/ops/master_weights.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <utility>

namespace shellgame {
namespace {

bool is_wide(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kDouble;
}

}  // namespace

MasterWeights::MasterWeights(std::vector<at::Tensor> parameters)
    : parameters_(std::move(parameters)) {
  for (const at::Tensor& parameter : parameters_) {
    values_.push_back(is_wide(parameter) ? parameter
                                         : parameter.detach().to(at::kFloat).contiguous());
  }
}

at::Tensor MasterWeights::zeros(std::size_t i) const {
  return at::zeros_like(values_[i].detach(), at::MemoryFormat::Contiguous);
}

at::Tensor MasterWeights::gradient(std::size_t i) const {
  const at::Tensor& gradient = parameters_[i].grad();
  if (!gradient.defined()) return {};
  return gradient.to(values_[i].scalar_type()).contiguous();
}

void MasterWeights::clear_gradients() {
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad() = at::Tensor();
}

void MasterWeights::round_parameters() {
  const at::NoGradGuard no_gradients;
  for (std::size_t i = 0; i < size(); ++i) {
    if (apart(i)) parameters_[i].detach().copy_(values_[i]);
  }
}

}  // namespace shellgame
