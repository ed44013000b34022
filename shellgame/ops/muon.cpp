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
    : weights_(std::move(matrices)), settings_(settings) {
  for (std::size_t i = 0; i < weights_.size(); ++i) momenta_.push_back(weights_.zeros(i));
  decays_.assign(weights_.size(), settings.decay);
  rates_.assign(weights_.size(), 1);
}

void Muon::set_group(std::size_t i, double decay, double rate) {
  decays_.at(i) = decay;
  rates_.at(i) = rate;
}

void Muon::apply(double learning_rate, double gradient_scale) {
  const at::NoGradGuard no_gradients;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const at::Tensor& value = weights_.values()[i];
    const at::Tensor plain = weights_.gradient(i);
    if (!plain.defined()) continue;
    const at::Tensor gradient = plain * gradient_scale;
    momenta_[i].mul_(settings_.momentum).add_(gradient);
    const at::Tensor update = nearly_orthogonal(gradient + settings_.momentum * momenta_[i]);
    const double shape = std::sqrt(
        std::max(1.0, static_cast<double>(value.size(0)) / static_cast<double>(value.size(1))));
    const double rate = learning_rate * rates_[i];
    if (decays_[i] != 0) value.mul_(1 - rate * decays_[i]);
    value.add_(update, -rate * shape);
  }
  weights_.round_parameters();
}

}  // namespace shellgame
