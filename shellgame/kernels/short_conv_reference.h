// The meaning of short_conv.h, for float, double or std::complex<double>.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "shellgame/kernels/short_conv.h"

namespace shellgame {

template <class Real>
Real sigmoid_reference(Real x) {
  using std::exp;
  return Real(1) / (Real(1) + exp(-x));
}

// x of one channel at time t - W, where t counts from the oldest input of the state.
template <class Real>
Real short_conv_input(const ShortConvSizes& sizes, const ShortConvInput<Real>& input, std::size_t b,
                      std::size_t channel, std::size_t t) {
  const auto [B, T, channels, W] = sizes;
  if (t >= W) return input.x.row(b * T + t - W)[channel];
  return input.state ? input.state[(b * channels + channel) * W + t] : Real(0);
}

template <class Real>
Real short_conv_sum(const ShortConvSizes& sizes, const ShortConvInput<Real>& input, std::size_t b,
                    std::size_t channel, std::size_t t) {
  Real sum = input.bias ? input.bias[channel] : Real(0);
  for (std::size_t i = 0; i < sizes.W; ++i)
    sum += input.weights[channel * sizes.W + i] *
           short_conv_input(sizes, input, b, channel, t + 1 + i);
  return sum;
}

template <class Real>
void short_conv_forward_reference(const ShortConvSizes& sizes, const ShortConvInput<Real>& input,
                                  const ShortConvOutput<Real>& output) {
  const auto [B, T, channels, W] = sizes;
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t channel = 0; channel < channels; ++channel) {
      for (std::size_t t = 0; t < T; ++t) {
        const Real sum = short_conv_sum(sizes, input, b, channel, t);
        output.y.row(b * T + t)[channel] = input.silu ? sum * sigmoid_reference(sum) : sum;
      }
      for (std::size_t i = 0; output.state && i < W; ++i)
        output.state[(b * channels + channel) * W + i] =
            short_conv_input(sizes, input, b, channel, T + i);
    }
}

template <class Real>
void short_conv_backward_reference(const ShortConvSizes& sizes, const ShortConvInput<Real>& input,
                                   const ShortConvGradients<Real>& gradients) {
  const auto [B, T, channels, W] = sizes;
  if (gradients.dweights) std::fill_n(gradients.dweights, channels * W, Real(0));
  if (gradients.dbias) std::fill_n(gradients.dbias, channels, Real(0));
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t channel = 0; channel < channels; ++channel) {
      std::vector<Real> dx(T + W);  // from the oldest input of the state on
      const std::size_t place = (b * channels + channel) * W;
      for (std::size_t i = 0; gradients.dstate_out && i < W; ++i)
        dx[T + i] += gradients.dstate_out[place + i];
      for (std::size_t t = 0; t < T; ++t) {
        const Real sum = short_conv_sum(sizes, input, b, channel, t);
        const Real s = sigmoid_reference(sum);
        Real d = gradients.dy.row(b * T + t)[channel];
        if (input.silu) d *= s * (Real(1) + sum * (Real(1) - s));
        if (gradients.dbias) gradients.dbias[channel] += d;
        for (std::size_t i = 0; i < W; ++i) {
          dx[t + 1 + i] += input.weights[channel * W + i] * d;
          if (gradients.dweights)
            gradients.dweights[channel * W + i] +=
                d * short_conv_input(sizes, input, b, channel, t + 1 + i);
        }
      }
      for (std::size_t t = 0; gradients.dx && t < T; ++t)
        gradients.dx.row(b * T + t)[channel] = dx[W + t];
      if (gradients.dstate) std::copy_n(dx.begin(), W, gradients.dstate + place);
    }
}

}  // namespace shellgame
