// The meaning of one step of AdamW on one parameter, for any kind of number.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "shellgame/kernels/adamw.h"

namespace shellgame::reference {

template <class Real>
void adamw(const AdamwStep& step, double learning_rate, double decay,
           const std::vector<Real>& gradient, std::vector<Real>& value, std::vector<Real>& mean,
           std::vector<Real>& square) {
  using std::sqrt;
  const auto count = static_cast<double>(step.step);
  for (std::size_t i = 0; i < value.size(); ++i) {
    const Real g = Real(step.gradient_scale) * gradient[i];
    mean[i] = Real(step.beta1) * mean[i] + Real(1 - step.beta1) * g;
    square[i] = Real(step.beta2) * square[i] + Real(1 - step.beta2) * g * g;
    const Real unbiased = mean[i] / Real(1 - std::pow(step.beta1, count));
    const Real root = sqrt(square[i] / Real(1 - std::pow(step.beta2, count)));
    value[i] = value[i] * Real(1 - learning_rate * decay) -
               Real(learning_rate) * unbiased / (root + Real(step.eps));
  }
}

}  // namespace shellgame::reference
