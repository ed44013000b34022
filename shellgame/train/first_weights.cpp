#include "shellgame/train/first_weights.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <fmt/ranges.h>

#include "shellgame/models/checkpoint.h"
#include "shellgame/text/error.h"

namespace shellgame {

std::string read_first_weights(const std::string& from, const Model& model) {
  const Model source = load_model(from);
  const at::NoGradGuard no_gradients;
  if (source.parameters().size() != model.parameters().size())
    wrong_use("--from must have the {} parameters of [model], and '{}' has {}",
              model.parameters().size(), from, source.parameters().size());
  for (const Parameter& parameter : model.parameters()) {
    const at::Tensor& value = source.parameter(parameter.name).value;
    if (value.sizes() != parameter.value.sizes())
      wrong_use("--from: the parameter {} of '{}' must have the shape [{}], not [{}]",
                parameter.name, from, fmt::join(parameter.value.sizes(), ", "),
                fmt::join(value.sizes(), ", "));
    parameter.value.detach().copy_(value);
  }
  std::string others;
  const nlohmann::json there = source.config().json(), here = model.config().json();
  for (const auto& [key, value] : here.items()) {
    if (!there.contains(key) || there.at(key) == value) continue;
    others += fmt::format("{}{} is {} there, {} here", others.empty() ? "" : "; ", key,
                          there.at(key).dump(), value.dump());
  }
  return others;
}

}  // namespace shellgame
