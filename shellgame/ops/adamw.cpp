#include "shellgame/ops/adamw.h"

#include <ATen/Functions.h>

#include <cmath>

#include "shellgame/kernels/adamw.h"
#include "shellgame/ops/engine.h"
#include "shellgame/ops/rows.h"

namespace shellgame {

AdamW::AdamW(std::vector<at::Tensor> parameters, std::vector<bool> decays, AdamWSettings settings)
    : parameters_(std::move(parameters)), decays_(std::move(decays)), settings_(settings) {
  for (const at::Tensor& parameter : parameters_) {
    means_.push_back(at::zeros_like(parameter.detach(), at::MemoryFormat::Contiguous));
    squares_.push_back(at::zeros_like(parameter.detach(), at::MemoryFormat::Contiguous));
  }
}

void AdamW::clear_gradients() {
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad() = at::Tensor();
}

double AdamW::step(double learning_rate) {
  const at::NoGradGuard no_gradients;
  ++steps_;
  std::vector<at::Tensor> gradients;
  bool fit = true;
  for (const at::Tensor& parameter : parameters_) {
    gradients.push_back(parameter.grad().defined() ? parameter.grad().contiguous() : at::Tensor());
    fit = fit && kernels_fit({parameter, gradients.back()}) && parameter.is_contiguous();
  }
  double norm = 0;
  if (fit) {
    std::vector<GradientPart> parts;
    for (const at::Tensor& gradient : gradients) {
      if (gradient.defined()) parts.push_back({numbers(gradient), gradient.numel()});
    }
    norm = gradient_norm(parts);
  } else {
    for (const at::Tensor& gradient : gradients) {
      if (gradient.defined()) norm += gradient.to(at::kDouble).square().sum().item<double>();
    }
    norm = std::sqrt(norm);
  }
  const double scale = settings_.clip > 0 && norm > settings_.clip ? settings_.clip / norm : 1;
  if (fit) {
    std::vector<AdamwParameter> list;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (!gradients[i].defined()) continue;
      list.push_back({.value = mutable_numbers(parameters_[i]),
                      .gradient = numbers(gradients[i]),
                      .mean = mutable_numbers(means_[i]),
                      .square = mutable_numbers(squares_[i]),
                      .size = parameters_[i].numel(),
                      .learning_rate = learning_rate,
                      .decay = decays_[i] ? settings_.decay : 0});
    }
    adamw(list, {.beta1 = settings_.beta1,
                 .beta2 = settings_.beta2,
                 .eps = settings_.eps,
                 .step = steps_,
                 .gradient_scale = scale});
    return norm;
  }
  const double first = 1 - std::pow(settings_.beta1, static_cast<double>(steps_));
  const double second = 1 - std::pow(settings_.beta2, static_cast<double>(steps_));
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!gradients[i].defined()) continue;
    const at::Tensor gradient = gradients[i] * scale;
    means_[i].mul_(settings_.beta1).add_(gradient, 1 - settings_.beta1);
    squares_[i].mul_(settings_.beta2).addcmul_(gradient, gradient, 1 - settings_.beta2);
    if (decays_[i]) parameters_[i].mul_(1 - learning_rate * settings_.decay);
    parameters_[i].addcdiv_(means_[i], squares_[i].div(second).sqrt_().add_(settings_.eps),
                            -learning_rate / first);
  }
  return norm;
}

}  // namespace shellgame
