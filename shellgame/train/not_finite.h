// Where numbers stopped being finite.
#pragma once

#include <string>

#include "shellgame/models/model.h"

namespace shellgame {

// A sentence's part such as "the output of layer 1" or "the gradient of model.layers.0.attn...":
// the first thing that is not finite, as the forward pass, then the backward pass meets it. Looks
// at the parameters and gradients as they are, and runs the batch again.
std::string what_is_not_finite(const Model& model, const at::Tensor& ids, const ModelState& state);

}  // namespace shellgame
