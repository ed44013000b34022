// The meaning of rope and of the embedding's gradient, for any kind of number (RMSNorm and SwiGLU
// are in norm_linear_reference.h and swiglu_mlp_reference.h). All matrices are contiguous.
#pragma once

#include <cmath>
#include <cstdint>

#include "shellgame/kernels/norm_linear_reference.h"

namespace shellgame::reference {

// x [rows, heads, width], row r at position offset + r % time; `sign` -1 gives the backward pass.
template <class Real>
Values<Real> rope(std::size_t rows, std::size_t time, std::size_t heads, std::size_t width,
                  std::size_t offset, double base, const Values<Real>& x, double sign = 1) {
  Values<Real> y(x.size());
  const std::size_t half = width / 2;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t h = 0; h < heads; ++h)
      for (std::size_t i = 0; i < half; ++i) {
        const double angle =
            static_cast<double>(offset + r % time) *
            std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(width));
        const Real c = std::cos(angle), s = sign * std::sin(angle);
        const std::size_t at = (r * heads + h) * width + i;
        y[at] = x[at] * c - x[at + half] * s;
        y[at + half] = x[at + half] * c + x[at] * s;
      }
  return y;
}

template <class Real>
Values<Real> embedding_gradient(std::size_t width, std::size_t vocabulary,
                                const std::vector<std::int64_t>& ids, const Values<Real>& dy) {
  Values<Real> d(vocabulary * width);
  for (std::size_t r = 0; r < ids.size(); ++r)
    for (std::size_t j = 0; j < width; ++j)
      d[static_cast<std::size_t>(ids[r]) * width + j] += dy[r * width + j];
  return d;
}

}  // namespace shellgame::reference
