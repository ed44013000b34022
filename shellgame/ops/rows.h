// Torch tensors as the kernels see them.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/version.h>

#include "shellgame/kernels/gemm.h"
#include "shellgame/kernels/row_view.h"

#if TORCH_VERSION_MAJOR >= 2
#include <optional>
#else
#include <c10/util/Optional.h>
#endif

namespace shellgame {

// An argument of a differentiable function that may be missing: Torch takes no undefined tensors.
#if TORCH_VERSION_MAJOR >= 2
using MaybeTensor = std::optional<at::Tensor>;
#else
using MaybeTensor = c10::optional<at::Tensor>;
#endif
inline MaybeTensor maybe(const at::Tensor& x) {
  return x.defined() ? MaybeTensor(x) : MaybeTensor();
}
inline at::Tensor or_undefined(const MaybeTensor& x) { return x.has_value() ? *x : at::Tensor(); }

// x [..., D] with rows that lie evenly, as a matrix; `x` must be whole (see even_rows).
ConstRows const_rows(const at::Tensor& x);
Rows mutable_rows(const at::Tensor& x);
// x itself if its rows [..., D] lie evenly in memory (a slice of columns does), else a copy.
at::Tensor even_rows(const at::Tensor& x);

// x [B, T, H, X] or [B, T, H] as rows of heads; an undefined tensor is "not given". `x` must come
// from even_heads.
RowView<const float> head_rows(const at::Tensor& x);
RowView<float> mutable_head_rows(const at::Tensor& x);
at::Tensor even_heads(const at::Tensor& x);

// The numbers of a contiguous tensor, null if it is undefined.
const float* numbers(const at::Tensor& x);
float* mutable_numbers(const at::Tensor& x);

}  // namespace shellgame
