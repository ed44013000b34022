#include "shellgame/ops/rows.h"

namespace shellgame {
namespace {

// Whether all but the last `kept` dimensions can be walked with one stride.
bool is_even(const at::Tensor& x, std::int64_t kept) {
  std::int64_t inner = 1;
  for (std::int64_t d = x.dim() - 1; d >= x.dim() - kept; --d) {
    if (x.size(d) != 1 && x.stride(d) != inner) return false;
    inner *= x.size(d);
  }
  std::int64_t expected = -1;  // any, for the innermost
  for (std::int64_t d = x.dim() - kept - 1; d >= 0; --d) {
    if (x.size(d) == 1) continue;  // may have any stride
    if (expected >= 0 && x.stride(d) != expected) return false;
    expected = x.stride(d) * x.size(d);
  }
  return true;
}

std::int64_t row_stride(const at::Tensor& x, std::int64_t kept) {
  for (std::int64_t d = x.dim() - kept - 1; d >= 0; --d) {
    if (x.size(d) != 1) return x.stride(d);
  }
  return x.numel();  // a single row
}

std::int64_t head_dims(const at::Tensor& x) { return x.dim() - 2; }

}  // namespace

at::Tensor even_rows(const at::Tensor& x) { return is_even(x, 1) ? x : x.contiguous(); }

ConstRows const_rows(const at::Tensor& x) { return {x.data_ptr<float>(), row_stride(x, 1)}; }

Rows mutable_rows(const at::Tensor& x) { return {x.data_ptr<float>(), row_stride(x, 1)}; }

at::Tensor even_heads(const at::Tensor& x) {
  if (!x.defined() || is_even(x, head_dims(x))) return x;
  return x.contiguous();
}

RowView<const float> head_rows(const at::Tensor& x) {
  if (!x.defined()) return {};
  return {x.data_ptr<float>(), static_cast<std::size_t>(row_stride(x, head_dims(x)))};
}

RowView<float> mutable_head_rows(const at::Tensor& x) {
  if (!x.defined()) return {};
  return {x.data_ptr<float>(), static_cast<std::size_t>(row_stride(x, head_dims(x)))};
}

const float* numbers(const at::Tensor& x) { return x.defined() ? x.data_ptr<float>() : nullptr; }
float* mutable_numbers(const at::Tensor& x) { return x.defined() ? x.data_ptr<float>() : nullptr; }

}  // namespace shellgame
