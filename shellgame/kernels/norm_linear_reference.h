// The meaning of norm_linear and of its parts, for any kind of number. All matrices are contiguous.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <vector>

namespace shellgame::reference {

template <class Real>
using Values = std::vector<Real>;

// a [m, k] b [k, n].
template <class Real>
Values<Real> product(std::size_t m, std::size_t k, std::size_t n, const Values<Real>& a,
                     const Values<Real>& b) {
  Values<Real> c(m * n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t l = 0; l < k; ++l)
      for (std::size_t j = 0; j < n; ++j) c[i * n + j] += a[i * k + l] * b[l * n + j];
  return c;
}

template <class Real>
Values<Real> transposed(std::size_t m, std::size_t n, const Values<Real>& a) {
  Values<Real> t(m * n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) t[j * m + i] = a[i * n + j];
  return t;
}

template <class Real>
struct RmsNorm {
  Values<Real> y, rstd;
};
// y = x rstd weight, rstd = 1 / sqrt(mean(x^2) + eps); x [rows, width].
template <class Real>
RmsNorm<Real> rms_norm(std::size_t rows, std::size_t width, const Values<Real>& x,
                       const Values<Real>& weight, double eps) {
  RmsNorm<Real> result{Values<Real>(rows * width), Values<Real>(rows)};
  for (std::size_t r = 0; r < rows; ++r) {
    Real sum = 0;
    for (std::size_t j = 0; j < width; ++j) sum += x[r * width + j] * x[r * width + j];
    using std::sqrt;
    result.rstd[r] = Real(1) / sqrt(sum / Real(static_cast<double>(width)) + Real(eps));
    for (std::size_t j = 0; j < width; ++j)
      result.y[r * width + j] = x[r * width + j] * result.rstd[r] * weight[j];
  }
  return result;
}

template <class Real>
struct RmsNormGradients {
  Values<Real> x, weight;
};
template <class Real>
RmsNormGradients<Real> rms_norm_backward(std::size_t rows, std::size_t width, const Values<Real>& x,
                                         const Values<Real>& weight, const Values<Real>& rstd,
                                         const Values<Real>& dy) {
  RmsNormGradients<Real> d{Values<Real>(rows * width), Values<Real>(width)};
  for (std::size_t r = 0; r < rows; ++r) {
    Real along = 0;
    for (std::size_t j = 0; j < width; ++j) {
      along += dy[r * width + j] * weight[j] * x[r * width + j];
      d.weight[j] += dy[r * width + j] * x[r * width + j] * rstd[r];
    }
    along *= rstd[r] * rstd[r] / Real(static_cast<double>(width));
    for (std::size_t j = 0; j < width; ++j)
      d.x[r * width + j] = rstd[r] * (dy[r * width + j] * weight[j] - x[r * width + j] * along);
  }
  return d;
}

// y = RMSNorm(x) W^T, W [out, width] (all weights, one below the other).
template <class Real>
Values<Real> norm_linear(std::size_t rows, std::size_t width, std::size_t out,
                         const Values<Real>& x, const Values<Real>& norm, double eps,
                         const Values<Real>& weight) {
  return product(rows, width, out, rms_norm(rows, width, x, norm, eps).y,
                 transposed(out, width, weight));
}

template <class Real>
struct NormLinearGradients {
  Values<Real> x, norm, weight;  // x without the residual's part
};
template <class Real>
NormLinearGradients<Real> norm_linear_backward(std::size_t rows, std::size_t width, std::size_t out,
                                               const Values<Real>& x, const Values<Real>& norm,
                                               double eps, const Values<Real>& weight,
                                               const Values<Real>& dy) {
  const RmsNorm<Real> n = rms_norm(rows, width, x, norm, eps);
  RmsNormGradients<Real> d =
      rms_norm_backward(rows, width, x, norm, n.rstd, product(rows, out, width, dy, weight));
  return {std::move(d.x), std::move(d.weight),
          product(out, rows, width, transposed(rows, out, dy), n.y)};
}

// y = x + o W^T, W [width, in].
template <class Real>
Values<Real> linear_add(std::size_t rows, std::size_t in, std::size_t width, const Values<Real>& x,
                        const Values<Real>& o, const Values<Real>& weight) {
  Values<Real> y = product(rows, in, width, o, transposed(width, in, weight));
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[i];
  return y;
}

template <class Real>
struct LinearAddGradients {
  Values<Real> o, weight;
};
template <class Real>
LinearAddGradients<Real> linear_add_backward(std::size_t rows, std::size_t in, std::size_t width,
                                             const Values<Real>& o, const Values<Real>& weight,
                                             const Values<Real>& dy) {
  return {product(rows, width, in, dy, weight),
          product(width, rows, in, transposed(rows, width, dy), o)};
}

}  // namespace shellgame::reference
