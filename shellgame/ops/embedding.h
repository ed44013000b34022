// Rows of a table by token id.
#pragma once

#include <ATen/core/Tensor.h>

namespace shellgame {

// table [vocabulary, D], ids [B, T] within it, to [B, T, D]. The gradient is summed in a fixed
// order.
at::Tensor embedding_rows(const at::Tensor& table, const at::Tensor& ids);

}  // namespace shellgame
