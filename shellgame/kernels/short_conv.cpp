#include "shellgame/kernels/short_conv.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "shellgame/kernels/short_conv.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "shellgame/kernels/conv_rows-inl.h"
#include "shellgame/kernels/short_conv_space.h"

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {

template <class Activation>
HWY_INLINE void conv_block(std::size_t W, std::size_t count, std::size_t width, const ConvSpace& w,
                           float* out, float* derivatives) {
  if (W == 4)
    conv_forward<4, Activation>(W, count, width, w.x + W - 1, w.taps, kConvChannels, w.bias, out,
                                derivatives);
  else
    conv_forward<0, Activation>(W, count, width, w.x + W - 1, w.taps, kConvChannels, w.bias, out,
                                derivatives);
}

// Channels from `channel` on (at most kConvChannels) of one batch.
void ConvForwardItem(const ShortConvSizes& sizes, const ShortConvInput<float>& in,
                     const ShortConvOutput<float>& out, std::size_t b, std::size_t channel) {
  thread_local ConvMemory memory;
  const std::size_t width = std::min(kConvChannels, sizes.channels - channel);
  const ConvSpace& w = memory.set(sizes, in, b, channel, width);
  for (std::size_t t = 0; t < sizes.T; t += kConvTokens) {
    const std::size_t count = std::min(kConvTokens, sizes.T - t);
    point_at_conv_rows(sizes, in, b, channel, t, count, w);
    if (in.silu)
      conv_block<Silu>(sizes.W, count, width, w, w.y, nullptr);
    else
      conv_block<Identity>(sizes.W, count, width, w, w.y, nullptr);
    for (std::size_t i = 0; i < count; ++i)
      std::copy_n(w.y + i * kConvChannels, width, out.y.row(b * sizes.T + t + i) + channel);
  }
}

void ConvBackwardItem(const ShortConvSizes& sizes, const ShortConvInput<float>& in,
                      const ShortConvGradients<float>& gradients, float* sums, std::size_t b,
                      std::size_t channel) {
  thread_local ConvMemory memory;
  const FloatTag d;
  const std::size_t width = std::min(kConvChannels, sizes.channels - channel), W = sizes.W;
  const std::size_t blocks = (sizes.T + kConvTokens - 1) / kConvTokens;
  const ConvSpace& w = memory.set(sizes, in, b, channel, width);
  for (std::size_t block = blocks; block-- > 0;) {
    const std::size_t t = block * kConvTokens, count = std::min(kConvTokens, sizes.T - t);
    point_at_conv_rows(sizes, in, b, channel, t, count, w);
    // What the block after this one, which was done before, has at its begin.
    std::copy_n(w.dy, (W - 1) * kConvChannels, w.dy + count * kConvChannels);
    if (in.silu) conv_block<Silu>(W, count, width, w, w.y, w.derivatives);
    for (std::size_t i = 0; i < count; ++i) {
      const float* dy = gradients.dy.row(b * sizes.T + t + i) + channel;
      for (std::size_t j = 0; j < width; j += hn::Lanes(d)) {
        const std::size_t place = i * kConvChannels + j;
        FloatVector value = load_part(dy + j, width - j);
        if (in.silu) value = hn::Mul(value, hn::Load(d, w.derivatives + place));
        hn::Store(value, d, w.dy + place);
        hn::Store(hn::Add(value, hn::Load(d, w.dbias + j)), d, w.dbias + j);
      }
      if (gradients.dx) w.dx[i] = gradients.dx.row(b * sizes.T + t + i) + channel;
    }
    float* const* dx = gradients.dx ? w.dx : nullptr;
    if (W == 4)
      conv_backward<4>(W, count, width, w.x + W - 1, w.taps, kConvChannels, w.dy, dx, w.dtaps);
    else
      conv_backward<0>(W, count, width, w.x + W - 1, w.taps, kConvChannels, w.dy, dx, w.dtaps);
  }
  finish_conv_item(sizes, gradients, w, b, channel, width, sums);
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <vector>

#include "shellgame/kernels/share_work.h"
#include "shellgame/text/error.h"

namespace shellgame {

HWY_EXPORT(ConvForwardItem);
HWY_EXPORT(ConvBackwardItem);

namespace {

// The taps and an activation that costs as much as a dozen.
double work_of(const ShortConvSizes& sizes) {
  return static_cast<double>(sizes.B * sizes.T * sizes.channels * (sizes.W + 12));
}

void check(const ShortConvSizes& sizes, const ShortConvInput<float>& in) {
  const auto& [B, T, channels, W] = sizes;
  if (B == 0 || T == 0 || channels == 0 || W == 0 || W > kConvTokens)
    wrong_use(
        "The short convolution must have sizes of at least 1 and at most {} taps, not B={} T={} "
        "channels={} W={}.",
        kConvTokens, B, T, channels, W);
  if (!in.x || !in.weights) wrong_use("The short convolution must be given x and its weights.");
}

}  // namespace

void short_conv_forward(const ShortConvSizes& sizes, const ShortConvInput<float>& input,
                        const ShortConvOutput<float>& output) {
  check(sizes, input);
  if (!output.y) wrong_use("The short convolution must be given a place for y.");
  const std::size_t blocks = (sizes.channels + kConvChannels - 1) / kConvChannels;
  share_work(sizes.B * blocks, work_of(sizes), [&](std::size_t i) {
    HWY_DYNAMIC_DISPATCH(ConvForwardItem)
    (sizes, input, output, i / blocks, i % blocks * kConvChannels);
  });
  if (output.state) write_conv_state(sizes, input.x, input.state, output.state);
}

void short_conv_backward(const ShortConvSizes& sizes, const ShortConvInput<float>& input,
                         const ShortConvGradients<float>& gradients) {
  check(sizes, input);
  if (!gradients.dy) wrong_use("The short convolution's backward must be given dy.");
  const std::size_t blocks = (sizes.channels + kConvChannels - 1) / kConvChannels;
  const std::size_t each = (sizes.W + 1) * sizes.channels;  // of a batch
  std::vector<float> sums(sizes.B * each);
  share_work(sizes.B * blocks, work_of(sizes), [&](std::size_t i) {
    HWY_DYNAMIC_DISPATCH(ConvBackwardItem)
    (sizes, input, gradients, sums.data() + i / blocks * each, i / blocks,
     i % blocks * kConvChannels);
  });
  // Batch by batch, in their order: weights first, then the bias.
  const auto add = [&](std::size_t from, std::size_t count, float* to) {
    if (!to) return;
    std::fill_n(to, count, 0.0f);
    for (std::size_t b = 0; b < sizes.B; ++b)
      for (std::size_t i = 0; i < count; ++i) to[i] += sums[b * each + from + i];
  };
  add(0, sizes.channels * sizes.W, gradients.dweights);
  add(sizes.channels * sizes.W, sizes.channels, gradients.dbias);
}

}  // namespace shellgame
#endif
