// Element-wise functions, by the names that configurations use.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace shellgame {

// "silu" (or "swish"), "identity", "relu", "elu" (which means ELU(x) + 1), "sigmoid", "sqrelu",
// "gelu", "tanh".
at::Tensor activate(const std::string& name, const at::Tensor& x);

}  // namespace shellgame
