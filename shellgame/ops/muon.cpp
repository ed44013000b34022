#include "shellgame/ops/muon.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

namespace shellgame {

at::Tensor nearly_orthogonal(const at::Tensor& matrix) {
  // The published quintic: steep at 0, so that small singular values rise in few steps.
  constexpr double a = 3.4445, b = -4.7750, c = 2.0315;
  constexpr int kSteps = 5;
  const bool tall = matrix.size(0) > matrix.size(1);
  at::Tensor x = tall ? matrix.t() : matrix;
  x = x / (x.norm() + 1e-7);
  for (int i = 0; i < kSteps; ++i) {
    const at::Tensor gram = x.mm(x.t());
    x = a * x + (b * gram + c * gram.mm(gram)).mm(x);
  }
  return tall ? x.t() : x;
}

Muon::Muon(std::vector<at::Tensor> matrices, MuonSettings settings)
    : parameters_(std::move(matrices)), settings_(settings) {
  for (const at::Tensor& parameter : parameters_)
    momenta_.push_back(at::zeros_like(parameter.detach(), at::MemoryFormat::Contiguous));
  decays_.assign(parameters_.size(), settings.decay);
  rates_.assign(parameters_.size(), 1);
}

void Muon::set_group(std::size_t i, double decay, double rate) {
  decays_.at(i) = decay;
  rates_.at(i) = rate;
}

void Muon::apply(double learning_rate, double gradient_scale) {
  const at::NoGradGuard no_gradients;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    at::Tensor& parameter = parameters_[i];
    if (!parameter.grad().defined()) continue;
    const at::Tensor gradient = parameter.grad() * gradient_scale;
    momenta_[i].mul_(settings_.momentum).add_(gradient);
    const at::Tensor update = nearly_orthogonal(gradient + settings_.momentum * momenta_[i]);
    const double shape = std::sqrt(std::max(
        1.0, static_cast<double>(parameter.size(0)) / static_cast<double>(parameter.size(1))));
    const double rate = learning_rate * rates_[i];
    if (decays_[i] != 0) parameter.mul_(1 - rate * decays_[i]);
    parameter.add_(update, -rate * shape);
  }
}

}  // namespace shellgame
