// Rows of heads inside a larger buffer, for instance one slice of a projection that gives q, k, v
// and the gate side by side.
#pragma once

#include <cstddef>

namespace shellgame {

// Row (b, t) begins at data + (b * T + t) * stride; its heads lie side by side, head h of width N
// at
// + h * N. Without data: not given.
template <class Real>
struct RowView {
  Real* data = nullptr;
  std::size_t stride = 0;

  explicit operator bool() const { return data != nullptr; }
  Real* row(std::size_t index) const { return data + index * stride; }
  operator RowView<const Real>() const { return {data, stride}; }
};

}  // namespace shellgame
