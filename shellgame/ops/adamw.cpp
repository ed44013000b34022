#include "shellgame/ops/adamw.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "shellgame/kernels/adamw.h"
#include "shellgame/ops/engine.h"
#include "shellgame/ops/rows.h"

namespace shellgame {

AdamW::AdamW(std::vector<at::Tensor> parameters, std::vector<bool> decays, AdamWSettings settings)
    : weights_(std::move(parameters)), settings_(settings) {
  for (const bool decays_at_all : decays) decays_.push_back(decays_at_all ? settings.decay : 0);
  rates_.assign(decays_.size(), 1);
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    means_.push_back(weights_.zeros(i));
    squares_.push_back(weights_.zeros(i));
  }
}

void AdamW::clear_gradients() { weights_.clear_gradients(); }

void AdamW::set_group(std::size_t i, double decay, double rate) {
  decays_.at(i) = decay;
  rates_.at(i) = rate;
}

double AdamW::step(double learning_rate) {
  const double all = norm();
  if (!std::isfinite(all)) return all;
  apply(learning_rate, settings_.clip > 0 && all > settings_.clip ? settings_.clip / all : 1);
  return all;
}

double AdamW::norm() const {
  const at::NoGradGuard no_gradients;
  std::vector<at::Tensor> gradients;
  bool fit = true;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const at::Tensor gradient = weights_.gradient(i);
    if (!gradient.defined()) continue;
    gradients.push_back(gradient);
    fit = fit && kernels_fit({gradient});
  }
  if (fit) {
    std::vector<GradientPart> parts;
    for (const at::Tensor& gradient : gradients)
      parts.push_back({numbers(gradient), gradient.numel()});
    return gradient_norm(parts);
  }
  double sum = 0;
  for (const at::Tensor& gradient : gradients)
    sum += gradient.to(at::kDouble).square().sum().item<double>();
  return std::sqrt(sum);
}

void AdamW::apply(double learning_rate, double gradient_scale) {
  const at::NoGradGuard no_gradients;
  ++steps_;
  const std::vector<at::Tensor>& values = weights_.values();
  std::vector<at::Tensor> gradients;
  bool fit = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    gradients.push_back(weights_.gradient(i));
    fit = fit && kernels_fit({values[i], gradients.back()}) && values[i].is_contiguous();
  }
  if (fit) {
    std::vector<AdamwParameter> list;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!gradients[i].defined()) continue;
      list.push_back({.value = mutable_numbers(values[i]),
                      .gradient = numbers(gradients[i]),
                      .mean = mutable_numbers(means_[i]),
                      .square = mutable_numbers(squares_[i]),
                      .size = values[i].numel(),
                      .learning_rate = learning_rate * rates_[i],
                      .decay = decays_[i]});
    }
    adamw(list, {.beta1 = settings_.beta1,
                 .beta2 = settings_.beta2,
                 .eps = settings_.eps,
                 .step = steps_,
                 .gradient_scale = gradient_scale});
    weights_.round_parameters();
    return;
  }
  const double first = 1 - std::pow(settings_.beta1, static_cast<double>(steps_));
  const double second = 1 - std::pow(settings_.beta2, static_cast<double>(steps_));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!gradients[i].defined()) continue;
    const at::Tensor gradient = gradients[i] * gradient_scale;
    const double rate = learning_rate * rates_[i];
    means_[i].mul_(settings_.beta1).add_(gradient, 1 - settings_.beta1);
    squares_[i].mul_(settings_.beta2).addcmul_(gradient, gradient, 1 - settings_.beta2);
    if (decays_[i] != 0) values[i].mul_(1 - rate * decays_[i]);
    values[i].addcdiv_(means_[i], squares_[i].div(second).sqrt_().add_(settings_.eps),
                       -rate / first);
  }
  weights_.round_parameters();
}

}  // namespace shellgame
