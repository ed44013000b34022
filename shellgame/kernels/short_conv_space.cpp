#include "shellgame/kernels/short_conv_space.h"

#include <algorithm>
#include <cstdint>

namespace shellgame {

const ConvSpace& ConvMemory::set(const ShortConvSizes& sizes, const ShortConvInput<float>& input,
                                 std::size_t b, std::size_t channel, std::size_t width) {
  ConvSpace& w = space_;
  const std::size_t W = sizes.W, rows = kConvTokens + W - 1;
  memory_.assign(kConvChannels * (3 * W + 3 * rows + 2) + 16, 0.0f);
  const auto place = reinterpret_cast<std::uintptr_t>(memory_.data());
  float* next = memory_.data() + (64 - place % 64) % 64 / sizeof(float);
  const auto take = [&](std::size_t count) {
    float* taken = next;
    next += count * kConvChannels;
    return taken;
  };
  w.taps = take(W);
  w.dtaps = take(W);
  w.before = take(W);
  w.y = take(rows);
  w.derivatives = take(rows);
  w.dy = take(rows);
  w.dbias = take(1);
  float* bias = take(1);
  if (input.bias) std::copy_n(input.bias + channel, width, bias);
  w.bias = input.bias ? bias : nullptr;
  rows_.assign(rows, nullptr);
  gradient_rows_.assign(kConvTokens, nullptr);
  w.x = rows_.data();
  w.dx = gradient_rows_.data();
  fill_taps(sizes, b, channel, width, input.weights, input.state, kConvChannels, w.taps, w.before);
  return w;
}

void point_at_conv_rows(const ShortConvSizes& sizes, const ShortConvInput<float>& input,
                        std::size_t b, std::size_t channel, std::size_t t, std::size_t count,
                        const ConvSpace& w) {
  const std::size_t W = sizes.W;
  for (std::size_t i = 0; i < W - 1 + count; ++i) {
    const std::size_t time = t + i;  // minus W - 1
    w.x[i] = time >= W - 1 ? input.x.row(b * sizes.T + time - (W - 1)) + channel
                           : w.before + time * kConvChannels;
  }
}

void write_conv_state(const ShortConvSizes& sizes, const RowView<const float>& x,
                      const float* before, float* after) {
  const auto [B, T, channels, W] = sizes;
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t channel = 0; channel < channels; ++channel)
      for (std::size_t i = 0; i < W; ++i) {
        const std::size_t place = (b * channels + channel) * W;
        const std::size_t from = T + i;  // minus W
        after[place + i] = from >= W ? x.row(b * T + from - W)[channel]
                           : before  ? before[place + from]
                                     : 0.0f;
      }
}

void fill_taps(const ShortConvSizes& sizes, std::size_t b, std::size_t channel, std::size_t width,
               const float* weights, const float* state, std::size_t distance, float* taps,
               float* before) {
  const std::size_t W = sizes.W;
  if (!weights) {
    std::fill_n(taps, width, 1.0f);
    return;
  }
  for (std::size_t j = 0; j < width; ++j) {
    for (std::size_t i = 0; i < W; ++i) taps[i * distance + j] = weights[(channel + j) * W + i];
    for (std::size_t i = 1; state && i < W; ++i)
      before[(i - 1) * distance + j] = state[(b * sizes.channels + channel + j) * W + i];
  }
}

void finish_conv_states(const ShortConvSizes& sizes, std::size_t b, std::size_t channel,
                        std::size_t width, const float* taps, const float* dy, std::size_t distance,
                        const ConvStateGradients& gradients) {
  const std::size_t T = sizes.T, W = sizes.W;
  for (std::size_t j = 0; j < width; ++j) {
    const std::size_t place = (b * sizes.channels + channel + j) * W;
    if (gradients.dbefore) {
      gradients.dbefore[place] = 0;
      for (std::size_t i = 1; i < W; ++i) {
        // Column i is the input at time i - W; the tap p meets it at time i - 1 - p. Rows of dy
        // after the last token are zero.
        float sum = 0;
        for (std::size_t p = 0; p < i; ++p)
          sum += taps[p * distance + j] * dy[(i - 1 - p) * distance + j];
        gradients.dbefore[place + i] = sum;
      }
    }
    for (std::size_t i = 0; gradients.dafter && i < W; ++i) {
      const std::size_t from = T + i;  // minus W
      if (from >= W) {
        if (gradients.dx)
          gradients.dx.row(b * T + from - W)[channel + j] += gradients.dafter[place + i];
      } else if (gradients.dbefore) {
        gradients.dbefore[place + from] += gradients.dafter[place + i];
      }
    }
  }
}

void finish_conv_item(const ShortConvSizes& sizes, const ShortConvGradients<float>& gradients,
                      const ConvSpace& w, std::size_t b, std::size_t channel, std::size_t width,
                      float* sums) {
  const std::size_t W = sizes.W;
  for (std::size_t j = 0; j < width; ++j) {
    for (std::size_t i = 0; i < W; ++i)
      sums[(channel + j) * W + i] = w.dtaps[i * kConvChannels + j];
    sums[sizes.channels * W + channel + j] = w.dbias[j];
  }
  finish_conv_states(sizes, b, channel, width, w.taps, w.dy, kConvChannels,
                     {gradients.dstate_out, gradients.dx, gradients.dstate});
}

}  // namespace shellgame
