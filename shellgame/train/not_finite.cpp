#include "shellgame/train/not_finite.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>

#include "shellgame/models/finite.h"
#include "shellgame/models/mixer.h"

namespace shellgame {

std::string what_is_not_finite(const Model& model, const at::Tensor& ids, const ModelState& state) {
  if (const Parameter* parameter = first_not_finite(model))
    return fmt::format("the parameter {}", parameter->name);
  std::string found;
  {
    const at::NoGradGuard no_gradients;
    const auto& layers = model.config().spec().layers;
    const Taps taps{.wanted =
                        [&](const TapPoint& point) {
                          const auto& names =
                              find_mixer(layers[static_cast<std::size_t>(point.layer)].mixer).taps;
                          return point.name == "output" &&
                                 std::ranges::find(names, "output") != names.end();
                        },
                    .call =
                        [&](const TapPoint& point, const at::Tensor& value) {
                          if (found.empty() && !all_finite(value))
                            found = fmt::format("the output of layer {}", point.layer);
                          return value;
                        }};
    ModelState copy = state;
    const at::Tensor logits = model.logits(ids, &copy, &taps);
    if (found.empty() && !all_finite(logits)) found = "the logits (after the last layer)";
  }
  if (!found.empty()) return found;
  // The backward pass goes from the last parameter to the first.
  for (auto parameter = model.parameters().rbegin(); parameter != model.parameters().rend();
       ++parameter) {
    if (parameter->value.grad().defined() && !all_finite(parameter->value.grad()))
      return fmt::format("the gradient of {}", parameter->name);
  }
  return "the loss";
}

}  // namespace shellgame
