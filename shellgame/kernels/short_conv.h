// Causal depthwise convolution over a few tokens, with an optional bias and SiLU:
//   y_t = act(bias + sum_i weights[i] x_{t-W+1+i}),  so that the last tap is the current token's.
// A state holds the last W inputs of each channel, oldest first, as fla's caches do.
#pragma once

#include <cstddef>

#include "shellgame/kernels/row_view.h"

namespace shellgame {

struct ShortConvSizes {
  std::size_t B = 0, T = 0, channels = 0, W = 0;
};

template <class Real>
struct ShortConvInput {
  RowView<const Real> x;          // [B,T,channels]
  const Real* weights = nullptr;  // [channels,W]
  const Real* bias = nullptr;     // [channels]; optional
  const Real* state = nullptr;    // [B,channels,W]; not given: 0
  bool silu = true;
};

template <class Real>
struct ShortConvOutput {
  RowView<Real> y;        // [B,T,channels]
  Real* state = nullptr;  // [B,channels,W]; optional
};

// Those that are given are written (not added to).
template <class Real>
struct ShortConvGradients {
  RowView<const Real> dy;            // [B,T,channels]
  const Real* dstate_out = nullptr;  // [B,channels,W]; not given: 0
  RowView<Real> dx;
  Real *dweights = nullptr, *dbias = nullptr, *dstate = nullptr;
};

void short_conv_forward(const ShortConvSizes& sizes, const ShortConvInput<float>& input,
                        const ShortConvOutput<float>& output);
void short_conv_backward(const ShortConvSizes& sizes, const ShortConvInput<float>& input,
                         const ShortConvGradients<float>& gradients);

}  // namespace shellgame
