#include "shellgame/train/optimiser.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

bool is_muons(const Parameter& parameter, const OptimiserSettings& settings) {
  return settings.kind == "muon" && parameter.value.dim() == 2 &&
         parameter.name.find("layers.") != std::string::npos;
}

std::vector<at::Tensor> values_of(const Model& model, const OptimiserSettings& settings,
                                  bool muons) {
  std::vector<at::Tensor> values;
  for (const Parameter& parameter : model.parameters()) {
    if (is_muons(parameter, settings) == muons) values.push_back(parameter.value);
  }
  return values;
}

std::vector<bool> decays_of(const Model& model, const OptimiserSettings& settings) {
  std::vector<bool> decays;
  for (const Parameter& parameter : model.parameters()) {
    if (!is_muons(parameter, settings)) decays.push_back(parameter.decays);
  }
  return decays;
}

// The gradients of a list, squared and added up.
double square_norm(const std::vector<at::Tensor>& parameters) {
  double sum = 0;
  for (const at::Tensor& parameter : parameters) {
    if (parameter.grad().defined())
      sum += parameter.grad().to(at::kDouble).square().sum().item<double>();
  }
  return sum;
}

// A group that no parameter belongs to is a misspelt one.
void check_groups(const Model& model, const OptimiserSettings& settings) {
  const std::vector<Parameter>& all = model.parameters();
  for (const ParameterGroup& group : settings.groups) {
    const bool found = std::ranges::any_of(all, [&](const Parameter& parameter) {
      return parameter.name.find(group.match) != std::string::npos;
    });
    if (!found)
      wrong_use(
          "key 'optimiser.groups': a match must be part of a parameter's name, and '{}' is in none "
          "of {} to {} (shellgame model describe lists them)",
          group.match, all.front().name, all.back().name);
  }
}

}  // namespace

Optimiser::Optimiser(const Model& model, const OptimiserSettings& settings)
    : settings_(settings),
      adamw_(values_of(model, settings, false), decays_of(model, settings),
             {.beta1 = settings.beta1,
              .beta2 = settings.beta2,
              .eps = settings.eps,
              .decay = settings.decay,
              .clip = settings.clip}),
      muon_(values_of(model, settings, true),
            {.momentum = settings.muon_momentum, .decay = settings.decay}) {
  check_groups(model, settings);
  for (const Parameter& parameter : model.parameters()) {
    const bool muons = is_muons(parameter, settings);
    is_muons_.push_back(muons);
    auto& names = muons ? muon_names_ : adamw_names_;
    for (const ParameterGroup& group : settings.groups) {
      if (parameter.name.find(group.match) == std::string::npos) continue;
      const double decay = group.decay.value_or(parameter.decays ? settings.decay : 0);
      if (muons) {
        muon_.set_group(names.size(), decay, group.rate);
      } else {
        adamw_.set_group(names.size(), decay, group.rate);
      }
    }
    names.push_back(parameter.name);
  }
}

double Optimiser::step(double learning_rate) {
  if (muon_names_.empty()) return adamw_.step(learning_rate);
  const double norm =
      std::sqrt(adamw_.norm() * adamw_.norm() + square_norm(muon_.weights().parameters()));
  if (!std::isfinite(norm)) return norm;
  const double scale = settings_.clip > 0 && norm > settings_.clip ? settings_.clip / norm : 1;
  adamw_.apply(learning_rate, scale);
  // Muon's rate follows the same schedule.
  const double share = settings_.learning_rate > 0 ? learning_rate / settings_.learning_rate : 0;
  muon_.apply(settings_.muon_rate * share, scale);
  return norm;
}

void Optimiser::clear_gradients() {
  adamw_.clear_gradients();
  muon_.clear_gradients();
}

std::map<std::string, at::Tensor> Optimiser::tensors() const {
  std::map<std::string, at::Tensor> all;
  const auto add_masters = [&](const MasterWeights& weights,
                               const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (weights.apart(i)) all["master." + names[i]] = weights.values()[i];
    }
  };
  add_masters(adamw_.weights(), adamw_names_);
  add_masters(muon_.weights(), muon_names_);
  for (std::size_t i = 0; i < adamw_names_.size(); ++i) {
    all["mean." + adamw_names_[i]] = adamw_.means()[i];
    all["square." + adamw_names_[i]] = adamw_.squares()[i];
  }
  for (std::size_t i = 0; i < muon_names_.size(); ++i)
    all["momentum." + muon_names_[i]] = muon_.momenta()[i];
  return all;
}

std::vector<at::Tensor> Optimiser::master_weights() const {
  std::vector<at::Tensor> all;
  std::size_t of_adamw = 0, of_muon = 0;
  for (const bool muons : is_muons_)
    all.push_back(muons ? muon_.weights().values()[of_muon++]
                        : adamw_.weights().values()[of_adamw++]);
  return all;
}

}  // namespace shellgame
