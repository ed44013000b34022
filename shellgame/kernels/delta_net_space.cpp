#include "shellgame/kernels/delta_net_space.h"

#include <algorithm>

namespace shellgame {
namespace {

std::size_t taps_of(const DeltaNetCoreInput<float>& input) {
  return std::max<std::size_t>(input.W, 1);
}

// Taps [W,distance] of one head from weights [channels,W], and the W-1 rows before the first token
// from a state [B,channels,W].
void fill_side(const CoreSide& side, const DeltaSizes& sizes, std::size_t given_W, std::size_t b,
               std::size_t h, const float* weights, const float* state) {
  const std::size_t channels = sizes.H * side.width;
  for (std::size_t j = 0; j < side.width; ++j) {
    const std::size_t channel = h * side.width + j;
    if (given_W == 0) side.taps[j] = 1;
    for (std::size_t i = 0; i < given_W; ++i)
      side.taps[i * side.distance + j] = weights[channel * given_W + i];
    for (std::size_t i = 1; state && i < given_W; ++i)
      side.before[(i - 1) * side.distance + j] = state[(b * channels + channel) * given_W + i];
  }
}

// Column i of a state that ends before the last token is the input at T - W + i, which may lie in
// the state at the begin.
void write_conv_state(const RowView<const float>& view, const DeltaSizes& sizes, std::size_t W,
                      std::size_t channels, const float* before, float* after) {
  if (!after) return;
  for (std::size_t b = 0; b < sizes.B; ++b)
    for (std::size_t channel = 0; channel < channels; ++channel)
      for (std::size_t i = 0; i < W; ++i) {
        const std::size_t place = (b * channels + channel) * W;
        const std::size_t from = sizes.T + i;  // minus W
        after[place + i] = from >= W ? view.row(b * sizes.T + from - W)[channel]
                           : before  ? before[place + from]
                                     : 0.0f;
      }
}

// Through the states of one side: the gradient of the state at the begin, and what that of the
// state at the end gives to the last inputs.
void finish_side(const CoreSide& side, const DeltaSizes& sizes, std::size_t W, std::size_t b,
                 std::size_t h, const float* dafter, const RowView<float>& dx, float* dbefore) {
  const std::size_t channels = sizes.H * side.width, T = sizes.T;
  for (std::size_t j = 0; j < side.width; ++j) {
    const std::size_t channel = h * side.width + j, place = (b * channels + channel) * W;
    if (dbefore) {
      dbefore[place] = 0;
      for (std::size_t i = 1; i < W; ++i) {
        // Column i is the input at time i - W; the tap p meets it at time i - 1 - p. Rows of dy
        // after the last token are zero.
        float sum = 0;
        for (std::size_t p = 0; p < i; ++p)
          sum += side.taps[p * side.distance + j] * side.dy[(i - 1 - p) * side.distance + j];
        dbefore[place + i] = sum;
      }
    }
    for (std::size_t i = 0; dafter && i < W; ++i) {
      const std::size_t from = T + i;  // minus W
      if (from >= W) {
        if (dx) dx.row(b * T + from - W)[channel] += dafter[place + i];
      } else if (dbefore) {
        dbefore[place + from] += dafter[place + i];
      }
    }
  }
}

}  // namespace

const CoreSpace& CoreMemory::set(const ChunkShape& s, const DeltaSizes& sizes,
                                 const DeltaNetCoreInput<float>& input, std::size_t b,
                                 std::size_t h, std::size_t chunk_count, bool backward) {
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
  fill_side(w.q, sizes, input.W, b, h, input.q_conv, input.q_state);
  fill_side(w.k, sizes, input.W, b, h, input.k_conv, input.k_state);
  fill_side(w.v, sizes, input.W, b, h, input.v_conv, input.v_state);
  if (input.norm_weight) std::copy_n(input.norm_weight, s.V, w.norm_weight);
  return w;
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
  const std::size_t keys = sizes.H * sizes.K, values = sizes.H * sizes.V;
  write_conv_state(input.q, sizes, input.W, keys, input.q_state, output.q_state);
  write_conv_state(input.k, sizes, input.W, keys, input.k_state, output.k_state);
  write_conv_state(input.v, sizes, input.W, values, input.v_state, output.v_state);
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
  finish_side(w.q, sizes, input.W, b, h, gradients.dq_state_out, gradients.dq, gradients.dq_state);
  finish_side(w.k, sizes, input.W, b, h, gradients.dk_state_out, gradients.dk, gradients.dk_state);
  finish_side(w.v, sizes, input.W, b, h, gradients.dv_state_out, gradients.dv, gradients.dv_state);
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
