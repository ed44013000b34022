// The meaning of head_norm.h, for float, double or std::complex<double>.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "shellgame/kernels/head_norm.h"
#include "shellgame/kernels/short_conv_reference.h"

namespace shellgame {

template <class Real>
void l2_norm_forward_reference(const HeadSizes& sizes, RowView<const Real> x, Real eps,
                               RowView<Real> y) {
  using std::sqrt;
  const auto [rows, heads, width] = sizes;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t h = 0; h < heads; ++h) {
      const Real* from = x.row(row) + h * width;
      Real sum = eps;
      for (std::size_t j = 0; j < width; ++j) sum += from[j] * from[j];
      for (std::size_t j = 0; j < width; ++j) y.row(row)[h * width + j] = from[j] / sqrt(sum);
    }
}

template <class Real>
void l2_norm_backward_reference(const HeadSizes& sizes, RowView<const Real> x, Real eps,
                                RowView<const Real> dy, RowView<Real> dx) {
  using std::sqrt;
  const auto [rows, heads, width] = sizes;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t h = 0; h < heads; ++h) {
      const Real* from = x.row(row) + h * width;
      const Real* d = dy.row(row) + h * width;
      Real sum = eps, dot = 0;
      for (std::size_t j = 0; j < width; ++j) {
        sum += from[j] * from[j];
        dot += from[j] * d[j];
      }
      for (std::size_t j = 0; j < width; ++j)
        dx.row(row)[h * width + j] = (d[j] - from[j] * dot / sum) / sqrt(sum);
    }
}

template <class Real>
Real gate_reference(GateActivation activation, Real x, Real& derivative) {
  const Real s = sigmoid_reference(x);
  const bool silu = activation == GateActivation::kSilu;
  derivative = silu ? s * (Real(1) + x * (Real(1) - s)) : s * (Real(1) - s);
  return silu ? x * s : s;
}

template <class Real>
void gated_norm_forward_reference(const HeadSizes& sizes, const GatedNormInput<Real>& input,
                                  RowView<Real> y) {
  using std::sqrt;
  const auto [rows, heads, width] = sizes;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t h = 0; h < heads; ++h) {
      const Real* x = input.x.row(row) + h * width;
      Real sum = 0;
      for (std::size_t j = 0; j < width; ++j) sum += x[j] * x[j];
      const Real norm = Real(1) / sqrt(sum / Real(double(width)) + input.eps);
      for (std::size_t j = 0; j < width; ++j) {
        Real derivative, value = x[j] * norm * (input.weight ? input.weight[j] : Real(1));
        if (input.gate)
          value *= gate_reference(input.activation, input.gate.row(row)[h * width + j], derivative);
        y.row(row)[h * width + j] = value;
      }
    }
}

template <class Real>
void gated_norm_backward_reference(const HeadSizes& sizes, const GatedNormInput<Real>& input,
                                   const GatedNormGradients<Real>& gradients) {
  using std::sqrt;
  const auto [rows, heads, width] = sizes;
  if (gradients.dweight) std::fill_n(gradients.dweight, width, Real(0));
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t h = 0; h < heads; ++h) {
      const Real* x = input.x.row(row) + h * width;
      Real sum = 0;
      for (std::size_t j = 0; j < width; ++j) sum += x[j] * x[j];
      const Real norm = Real(1) / sqrt(sum / Real(double(width)) + input.eps);
      std::vector<Real> d(width);  // of x times its norm
      Real dot = 0;
      for (std::size_t j = 0; j < width; ++j) {
        const Real weight = input.weight ? input.weight[j] : Real(1);
        d[j] = gradients.dy.row(row)[h * width + j];
        if (input.gate) {
          Real derivative;
          const Real gate =
              gate_reference(input.activation, input.gate.row(row)[h * width + j], derivative);
          if (gradients.dgate)
            gradients.dgate.row(row)[h * width + j] = d[j] * x[j] * norm * weight * derivative;
          d[j] *= gate;
        }
        if (gradients.dweight) gradients.dweight[j] += d[j] * x[j] * norm;
        d[j] *= weight;
        dot += d[j] * x[j] * norm;
      }
      for (std::size_t j = 0; gradients.dx && j < width; ++j)
        gradients.dx.row(row)[h * width + j] =
            norm * (d[j] - x[j] * norm * dot / Real(double(width)));
    }
}

}  // namespace shellgame
