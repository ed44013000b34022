#include "shellgame/models/finite.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "shellgame/text/error.h"

namespace shellgame {

bool all_finite(const at::Tensor& tensor) {
  const at::NoGradGuard no_gradients;
  return tensor.isfinite().all().item<bool>();
}

const Parameter* first_not_finite(const Model& model) {
  for (const Parameter& parameter : model.parameters()) {
    if (!all_finite(parameter.value)) return &parameter;
  }
  return nullptr;
}

void require_finite(const at::Tensor& tensor, std::string_view what) {
  if (!all_finite(tensor)) fail("{} must be finite, but there are infinities or NaNs", what);
}

void require_finite(const ModelState& state) {
  for (std::size_t i = 0; i < state.layers.size(); ++i) {
    const LayerState& layer = state.layers[i];
    for (const PartState* part : {&layer.mixer, &layer.channel_mixer}) {
      for (const auto& [name, tensor] : *part) {
        if (tensor.defined() && tensor.is_floating_point())
          require_finite(tensor, fmt::format("what layer {} remembers ('{}', after {} tokens)", i,
                                             name, state.tokens));
      }
    }
  }
}

}  // namespace shellgame
