#include "shellgame/kernels/delta_net_space.h"

#include <algorithm>

#include "shellgame/kernels/short_conv_space.h"

namespace shellgame {
namespace {

std::size_t taps_of(const DeltaNetCoreInput<float>& input) {
  return std::max<std::size_t>(input.W, 1);
}

// The convolution of one side, all heads.
ShortConvSizes conv_sizes(const DeltaSizes& sizes, std::size_t width, std::size_t W) {
  return {sizes.B, sizes.T, sizes.H * width, W};
}

}  // namespace

void CoreMemory::set(const ChunkShape& s, const DeltaSizes& sizes,
                     const DeltaNetCoreInput<float>& input, std::size_t b, std::size_t h,
                     std::size_t chunk_count, bool backward) {
  CoreSpace& w = space_;
  w.W = taps_of(input);
  const std::size_t C = s.C, rows = C + w.W - 1;
  std::size_t used = 0;
  float* begin = nullptr;
  const auto take = [&](std::size_t count) {
    const std::size_t place = used;
    used += (count + 15) / 16 * 16;
    return begin ? begin + place : nullptr;
  };
  const auto lay_out = [&] {
    used = 0;
    for (CoreSide* side : {&w.q, &w.k, &w.v}) {
      side->taps = take(w.W * side->distance);
      side->before = take((w.W - 1) * side->distance);
      side->dtaps = backward ? take(w.W * side->distance) : nullptr;
      side->dy = backward ? take(rows * side->distance) : nullptr;
    }
    w.o = take(C * s.vr);
    w.norms = take(C);
    w.dots = take(C);
    w.norm_weight = take(s.vr);
    w.dnorm_weight = take(s.vr);
    w.chunks.assign(backward ? chunk_count : 0, {});
    for (CoreChunk& chunk : w.chunks) {
      chunk.dq = take(C * s.kr);
      chunk.dk = take(C * s.kr);
      chunk.dv = take(C * s.vr);
      chunk.q_norms = take(C);
      chunk.k_norms = take(C);
    }
  };
  w.q.width = w.k.width = s.K;
  w.v.width = s.V;
  w.q.distance = w.k.distance = s.kr;
  w.v.distance = s.vr;
  lay_out();
  chunks_.set(s, chunk_count, backward, used);
  begin = chunks_.extra();
  lay_out();
  rows_.assign(3 * rows, nullptr);
  gradient_rows_.assign(3 * C, nullptr);
  std::size_t side_index = 0;
  for (CoreSide* side : {&w.q, &w.k, &w.v}) {
    side->x = rows_.data() + side_index * rows;
    side->dx = gradient_rows_.data() + side_index * C;
    ++side_index;
  }
  const auto fill = [&](const CoreSide& side, const float* weights, const float* state) {
    fill_taps(conv_sizes(sizes, side.width, w.W), b, h * side.width, side.width,
              input.W > 0 ? weights : nullptr, state, side.distance, side.taps, side.before);
  };
  fill(w.q, input.q_conv, input.q_state);
  fill(w.k, input.k_conv, input.k_state);
  fill(w.v, input.v_conv, input.v_state);
  if (input.norm_weight) std::copy_n(input.norm_weight, s.V, w.norm_weight);
}

void point_at_rows(const RowView<const float>& view, const DeltaSizes& sizes, std::size_t b,
                   std::size_t h, std::size_t t, std::size_t count, std::size_t W,
                   const CoreSide& side) {
  for (std::size_t i = 0; i < W - 1 + count; ++i) {
    const std::size_t time = t + i;  // minus W - 1
    side.x[i] = time >= W - 1 ? view.row(b * sizes.T + time - (W - 1)) + h * side.width
                              : side.before + time * side.distance;
  }
}

void write_conv_states(const DeltaSizes& sizes, const DeltaNetCoreInput<float>& input,
                       const DeltaNetCoreOutput<float>& output) {
  const auto write = [&](const RowView<const float>& x, std::size_t width, const float* before,
                         float* after) {
    if (after) write_conv_state(conv_sizes(sizes, width, input.W), x, before, after);
  };
  write(input.q, sizes.K, input.q_state, output.q_state);
  write(input.k, sizes.K, input.k_state, output.k_state);
  write(input.v, sizes.V, input.v_state, output.v_state);
}

std::size_t core_sums_size(const DeltaSizes& sizes, const DeltaNetCoreInput<float>& input) {
  return (2 * sizes.K + sizes.V) * input.W + sizes.V;
}

void finish_core_item(const ChunkShape& s, const DeltaSizes& sizes,
                      const DeltaNetCoreInput<float>& input,
                      const DeltaNetCoreGradients<float>& gradients, const CoreSpace& w,
                      std::size_t b, std::size_t h, float* sums) {
  for (const CoreSide* side : {&w.q, &w.k, &w.v})
    for (std::size_t j = 0; j < side->width; ++j)
      for (std::size_t i = 0; i < input.W; ++i) *sums++ = side->dtaps[i * side->distance + j];
  std::copy_n(w.dnorm_weight, s.V, sums);
  if (input.W == 0) return;
  const auto finish = [&](const CoreSide& side, const ConvStateGradients& states) {
    finish_conv_states(conv_sizes(sizes, side.width, input.W), b, h * side.width, side.width,
                       side.taps, side.dy, side.distance, states);
  };
  finish(w.q, {gradients.dq_state_out, gradients.dq, gradients.dq_state});
  finish(w.k, {gradients.dk_state_out, gradients.dk, gradients.dk_state});
  finish(w.v, {gradients.dv_state_out, gradients.dv, gradients.dv_state});
}

void add_core_sums(const DeltaSizes& sizes, const DeltaNetCoreInput<float>& input,
                   const float* sums, const DeltaNetCoreGradients<float>& gradients) {
  const std::size_t each = core_sums_size(sizes, input);
  const std::size_t keys = sizes.K * input.W, values = sizes.V * input.W;
  // `count` values of each item from `from` on; heads side by side or all added up.
  const auto add = [&](std::size_t from, std::size_t count, bool heads, float* to) {
    if (!to) return;
    std::fill_n(to, heads ? sizes.H * count : count, 0.0f);
    for (std::size_t item = 0; item < sizes.B * sizes.H; ++item)
      for (std::size_t i = 0; i < count; ++i)
        to[(heads ? item % sizes.H * count : 0) + i] += sums[item * each + from + i];
  };
  add(0, keys, true, gradients.dq_conv);
  add(keys, keys, true, gradients.dk_conv);
  add(2 * keys, values, true, gradients.dv_conv);
  add(2 * keys + values, sizes.V, false, gradients.dnorm_weight);
}

}  // namespace shellgame
