// DeltaNet's fused core: an item is a batch and some heads, which take turns segment by segment; a
// head goes through the tokens of a segment chunk by chunk.
#include "shellgame/kernels/delta_net_core.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "shellgame/kernels/delta_net_core.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "shellgame/kernels/conv_rows-inl.h"
#include "shellgame/kernels/delta_chunk-inl.h"
#include "shellgame/kernels/delta_chunk.h"
#include "shellgame/kernels/delta_net_space.h"
#include "shellgame/kernels/head_rows-inl.h"
#include "shellgame/kernels/share_heads.h"

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {

template <class Activation>
HWY_INLINE void conv_side(const CoreSide& side, std::size_t W, std::size_t count, float* out,
                          float* derivatives) {
  if (W == 4)
    conv_forward<4, Activation>(W, count, side.width, side.x + W - 1, side.taps, side.distance,
                                nullptr, out, derivatives);
  else
    conv_forward<0, Activation>(W, count, side.width, side.x + W - 1, side.taps, side.distance,
                                nullptr, out, derivatives);
}

inline void conv_keys(QkActivation activation, const CoreSide& side, std::size_t W,
                      std::size_t count, float* out, float* derivatives) {
  switch (activation) {
    case QkActivation::kSilu:
      return conv_side<Silu>(side, W, count, out, derivatives);
    case QkActivation::kIdentity:
      return conv_side<Identity>(side, W, count, out, derivatives);
    case QkActivation::kRelu:
      return conv_side<Relu>(side, W, count, out, derivatives);
    case QkActivation::kElu:
      return conv_side<EluPlusOne>(side, W, count, out, derivatives);
  }
}

constexpr float kLeastSum = 1e-6f;  // fla's

// Rows [C,K] in place: times `factor` and what their norm gives, which is kept in `norms`.
template <class Sizes>
inline void normalise(const Sizes& s, QkNorm norm, float factor, float* rows, float* norms) {
  const FloatTag d;
  if (norm == QkNorm::kL2) {
    dot_rows(s.C, s.Kp, s.kr, rows, rows, norms);
    for (std::size_t i = 0; i < s.C; i += hn::Lanes(d)) {
      const FloatVector sum = hn::Add(hn::Load(d, norms + i), hn::Set(d, 1e-6f));
      hn::Store(hn::Div(hn::Set(d, 1.0f), hn::Sqrt(sum)), d, norms + i);
    }
  } else {
    for (std::size_t i = 0; i < s.C; ++i) {
      float sum = 1;
      if (norm == QkNorm::kSum) {
        FloatVector sums = hn::Zero(d);
        for (std::size_t j = 0; j < s.Kp; j += hn::Lanes(d))
          sums = hn::Add(sums, hn::Abs(hn::Load(d, rows + i * s.kr + j)));
        sum = std::max(hn::GetLane(hn::SumOfLanes(d, sums)), kLeastSum);
      }
      norms[i] = 1 / sum;
    }
  }
  for (std::size_t i = 0; i < s.C; ++i) {
    const FloatVector both = hn::Set(d, factor * norms[i]);
    for (std::size_t j = 0; j < s.Kp; j += hn::Lanes(d)) {
      float* place = rows + i * s.kr + j;
      hn::Store(hn::Mul(both, hn::Load(d, place)), d, place);
    }
  }
}

// dy before the activation from `gradients` of the rows that normalise() left.
template <class Sizes>
inline void normalise_backward(const Sizes& s, QkNorm norm, float factor, const float* rows,
                               const float* gradients, const float* norms, const float* derivatives,
                               float* dots, float* dy) {
  const FloatTag d;
  if (norm != QkNorm::kNone) dot_rows(s.C, s.Kp, s.kr, rows, gradients, dots);
  for (std::size_t i = 0; i < s.C; ++i) {
    const FloatVector own = hn::Set(d, factor * norms[i]);
    const bool fixed = norm == QkNorm::kNone || (norm == QkNorm::kSum && norms[i] == 1 / kLeastSum);
    const FloatVector along = hn::Set(d, fixed                 ? 0.0f
                                         : norm == QkNorm::kL2 ? -norms[i] * dots[i] / factor
                                                               : -norms[i] * dots[i]);
    for (std::size_t j = 0; j < s.Kp; j += hn::Lanes(d)) {
      const std::size_t place = i * s.kr + j;
      const FloatVector row = hn::Load(d, rows + place);
      const FloatVector direction =
          norm == QkNorm::kSum ? hn::CopySign(hn::Set(d, 1.0f), row) : row;
      const FloatVector dx =
          hn::MulAdd(own, hn::Load(d, gradients + place), hn::Mul(along, direction));
      hn::Store(hn::Mul(dx, hn::Load(d, derivatives + place)), d, dy + place);
    }
  }
}

// From the projections to kq, e and beta of the chunk of `count` tokens from t on.
template <class Sizes>
inline void load_core_chunk(const Sizes& s, const DeltaSizes& sizes,
                            const DeltaNetCoreInput<float>& in, const CoreSpace& w, std::size_t b,
                            std::size_t h, std::size_t t, const Chunk& c, const CoreChunk* keep) {
  const FloatTag d;
  const std::size_t count = std::min(s.C, sizes.T - t), first = b * sizes.T + t;
  float *k = c.kq, *q = c.kq + s.C * s.kr;
  point_at_rows(in.q, sizes, b, h, t, count, w.W, w.q);
  point_at_rows(in.k, sizes, b, h, t, count, w.W, w.k);
  point_at_rows(in.v, sizes, b, h, t, count, w.W, w.v);
  conv_keys(in.qk_activation, w.q, w.W, count, q, keep ? keep->dq : nullptr);
  conv_keys(in.qk_activation, w.k, w.W, count, k, keep ? keep->dk : nullptr);
  conv_side<Silu>(w.v, w.W, count, c.e, keep ? keep->dv : nullptr);
  if (count < s.C) {
    std::fill(q + count * s.kr, q + s.C * s.kr, 0.0f);
    std::fill(k + count * s.kr, k + s.C * s.kr, 0.0f);
    std::fill(c.e + count * s.vr, c.e + s.C * s.vr, 0.0f);
  }
  normalise(s, in.qk_norm, in.scale, q, keep ? keep->q_norms : w.norms);
  normalise(s, in.qk_norm, 1.0f, k, keep ? keep->k_norms : w.norms);
  const FloatVector scale = hn::Set(d, in.beta_scale);
  for (std::size_t i = 0; i < s.C; ++i)
    c.beta[i] = in.beta && i < count ? in.beta.row(first + i)[h] : 0.0f;
  for (std::size_t i = 0; i < s.C; i += hn::Lanes(d))
    hn::Store(in.beta ? hn::Mul(scale, fast_sigmoid(d, hn::Load(d, c.beta + i))) : scale, d,
              c.beta + i);
  std::fill(c.beta + count, c.beta + s.C, 0.0f);
  prepare_chunk(s, c);
}

// norms[i] = 1 / sqrt(mean of squares + eps) of rows of o.
template <class Sizes>
inline void output_norms(const Sizes& s, float eps, const float* o, float* norms) {
  const FloatTag d;
  dot_rows(s.C, s.Vp, s.vr, o, o, norms);
  const FloatVector width = hn::Set(d, 1.0f / static_cast<float>(s.V));
  for (std::size_t i = 0; i < s.C; i += hn::Lanes(d)) {
    const FloatVector mean = hn::MulAdd(hn::Load(d, norms + i), width, hn::Set(d, eps));
    hn::Store(hn::Div(hn::Set(d, 1.0f), hn::Sqrt(mean)), d, norms + i);
  }
}

HWY_INLINE FloatVector gate_value(GateActivation activation, FloatVector x,
                                  FloatVector& derivative) {
  return activation == GateActivation::kSilu ? Silu::value(x, derivative)
                                             : Sigmoid::value(x, derivative);
}

// o[C,V] through norm and gate to where it belongs.
template <class Sizes>
inline void store_core_output(const Sizes& s, const DeltaNetCoreInput<float>& in,
                              const CoreSpace& w, std::size_t first, std::size_t h,
                              std::size_t count, const float* o, const RowView<float>& out) {
  const FloatTag d;
  if (in.norm_weight) output_norms(s, in.norm_eps, o, w.norms);
  for (std::size_t i = 0; i < count; ++i) {
    const FloatVector norm = hn::Set(d, in.norm_weight ? w.norms[i] : 1.0f);
    float* to = out.row(first + i) + h * s.V;
    const float* gate = in.gate ? in.gate.row(first + i) + h * s.V : nullptr;
    for (std::size_t j = 0; j < s.V; j += hn::Lanes(d)) {
      FloatVector y = hn::Load(d, o + i * s.vr + j);
      if (in.norm_weight) y = hn::Mul(y, hn::Mul(norm, hn::Load(d, w.norm_weight + j)));
      if (gate) {
        FloatVector derivative;
        y = hn::Mul(y, gate_value(in.gate_activation, load_part(gate + j, s.V - j), derivative));
      }
      store_part(y, to + j, s.V - j);
    }
  }
}

// The gradient of o, in d_o[C,V], from that of the output. o becomes o over its norm.
template <class Sizes>
inline void core_output_backward(const Sizes& s, const DeltaNetCoreInput<float>& in,
                                 const CoreSpace& w, std::size_t first, std::size_t h,
                                 std::size_t count, float* o, float* d_o,
                                 const DeltaNetCoreGradients<float>& gradients) {
  const FloatTag d;
  if (in.norm_weight) output_norms(s, in.norm_eps, o, w.norms);
  for (std::size_t j = 0; j < s.V; j += hn::Lanes(d)) {
    const std::size_t n = s.V - j;
    const FloatVector weight = hn::Load(d, w.norm_weight + j);
    FloatVector dweight = hn::Load(d, w.dnorm_weight + j);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t place = i * s.vr + j;
      FloatVector x = hn::Load(d, o + place);
      if (in.norm_weight) x = hn::Mul(x, hn::Set(d, w.norms[i]));
      FloatVector dy = load_part(gradients.d_o.row(first + i) + h * s.V + j, n);
      if (in.gate) {
        FloatVector derivative;
        const FloatVector gate = gate_value(
            in.gate_activation, load_part(in.gate.row(first + i) + h * s.V + j, n), derivative);
        if (gradients.dgate) {
          const FloatVector normed = in.norm_weight ? hn::Mul(x, weight) : x;
          store_part(hn::Mul(hn::Mul(dy, normed), derivative),
                     gradients.dgate.row(first + i) + h * s.V + j, n);
        }
        dy = hn::Mul(dy, gate);
      }
      if (in.norm_weight) {
        dweight = hn::MulAdd(dy, x, dweight);
        dy = hn::Mul(dy, weight);
        hn::Store(x, d, o + place);
      }
      hn::Store(dy, d, d_o + place);
    }
    hn::Store(dweight, d, w.dnorm_weight + j);
  }
  std::fill(d_o + count * s.vr, d_o + s.C * s.vr, 0.0f);
  if (!in.norm_weight) return;
  dot_rows(s.C, s.Vp, s.vr, o, d_o, w.dots);
  for (std::size_t i = 0; i < count; ++i) {
    const FloatVector norm = hn::Set(d, w.norms[i]);
    const FloatVector mean = hn::Set(d, -w.dots[i] / static_cast<float>(s.V));
    for (std::size_t j = 0; j < s.Vp; j += hn::Lanes(d)) {
      const std::size_t place = i * s.vr + j;
      const FloatVector dx = hn::MulAdd(mean, hn::Load(d, o + place), hn::Load(d, d_o + place));
      hn::Store(hn::Mul(norm, dx), d, d_o + place);
    }
  }
}

// Through the convolution: dx of the chunk's tokens, and the taps' gradient.
template <class Sizes>
inline void conv_side_backward(const Sizes& s, const CoreSide& side, std::size_t W,
                               const RowView<float>& out, std::size_t first, std::size_t h,
                               std::size_t count, bool is_first) {
  for (std::size_t i = 0; out && i < count; ++i) side.dx[i] = out.row(first + i) + h * side.width;
  float* const* dx = out ? side.dx : nullptr;
  if (W == 4)
    conv_backward<4>(W, count, side.width, side.x + W - 1, side.taps, side.distance, side.dy, dx,
                     side.dtaps);
  else
    conv_backward<0>(W, count, side.width, side.x + W - 1, side.taps, side.distance, side.dy, dx,
                     side.dtaps);
  // What the chunk before needs of this one.
  if (!is_first) std::copy_n(side.dy, (W - 1) * side.distance, side.dy + s.C * side.distance);
}

template <class Sizes>
inline void core_chunk_backward(const Sizes& s, const DeltaSizes& sizes,
                                const DeltaNetCoreInput<float>& in, const CoreSpace& w,
                                std::size_t b, std::size_t h, std::size_t t, const Chunk& c,
                                const CoreChunk& kept, const BackwardSpace& back,
                                const DeltaNetCoreGradients<float>& gradients) {
  const FloatTag d;
  const std::size_t C = s.C, count = std::min(C, sizes.T - t), first = b * sizes.T + t;
  float* d_o = back.z + C * s.vr;
  output_chunk(s, c, c.state, w.o);
  core_output_backward(s, in, w, first, h, count, w.o, d_o, gradients);
  chunk_backward(s, c, back, c.state, back.dS);
  if (in.beta && gradients.dbeta)
    for (std::size_t i = 0; i < count; ++i)
      gradients.dbeta.row(first + i)[h] =
          back.dbeta[i] * c.beta[i] * (1 - c.beta[i] / in.beta_scale);
  const float *k = c.kq, *q = c.kq + C * s.kr;
  normalise_backward(s, in.qk_norm, in.scale, q, back.dkq + C * s.kr, kept.q_norms, kept.dq, w.dots,
                     w.q.dy);
  normalise_backward(s, in.qk_norm, 1.0f, k, back.dkq, kept.k_norms, kept.dk, w.dots, w.k.dy);
  for (std::size_t i = 0; i < C; ++i)
    for (std::size_t j = 0; j < s.Vp; j += hn::Lanes(d)) {
      const std::size_t place = i * s.vr + j;
      hn::Store(hn::Neg(hn::Mul(hn::Load(d, back.z + place), hn::Load(d, kept.dv + place))), d,
                w.v.dy + place);
    }
  if (count < C)
    for (const CoreSide* side : {&w.q, &w.k, &w.v})
      std::fill(side->dy + count * side->distance, side->dy + C * side->distance, 0.0f);
  point_at_rows(in.q, sizes, b, h, t, count, w.W, w.q);
  point_at_rows(in.k, sizes, b, h, t, count, w.W, w.k);
  point_at_rows(in.v, sizes, b, h, t, count, w.W, w.v);
  conv_side_backward(s, w.q, w.W, gradients.dq, first, h, count, t == 0);
  conv_side_backward(s, w.k, w.W, gradients.dk, first, h, count, t == 0);
  conv_side_backward(s, w.v, w.W, gradients.dv, first, h, count, t == 0);
}

template <class Sizes>
inline void prefetch_core_chunk(const Sizes& s, const DeltaNetCoreInput<float>& in,
                                std::size_t first, std::size_t h, std::size_t count) {
  prefetch_rows<false>(in.q, first, h, s.K, count);
  prefetch_rows<false>(in.k, first, h, s.K, count);
  prefetch_rows<false>(in.v, first, h, s.V, count);
  prefetch_rows<false>(in.gate, first, h, s.V, count);
  prefetch_rows<false>(in.beta, first, h, 1, count);
}

// The tokens of a segment of one head. The state, in the first chunk, is that at its begin and then
// at its end.
template <class Sizes>
inline void core_forward_segment(const Sizes& s, const DeltaSizes& sizes,
                                 const DeltaNetCoreInput<float>& in,
                                 const DeltaNetCoreOutput<float>& out, const CoreSpace& w,
                                 const Chunk& c, std::size_t b, std::size_t h, std::size_t begin) {
  const std::size_t T = sizes.T, end = std::min(T, begin + s.segment());
  for (std::size_t t = begin; t < end; t += s.C) {
    const std::size_t count = std::min(s.C, T - t), first = b * T + t;
    load_core_chunk(s, sizes, in, w, b, h, t, c, nullptr);
    prefetch_rows<true>(out.o, first, h, s.V, count);
    if (t + s.C < T) prefetch_core_chunk(s, in, first + s.C, h, std::min(s.C, T - t - s.C));
    solve_chunk(s, c, c.state);
    output_chunk(s, c, c.state, w.o);
    store_core_output(s, in, w, first, h, count, w.o, out.o);
    if (t + s.C < T || out.ht) advance_chunk(s, c, c.state);
  }
}

template <class Sizes>
inline void core_forward_item(const Sizes& s, const DeltaSizes& sizes,
                              const DeltaNetCoreInput<float>& in,
                              const DeltaNetCoreOutput<float>& out, float* saved, std::size_t b,
                              HeadRange heads) {
  thread_local std::vector<CoreMemory> memories;
  if (memories.size() < heads.count) memories.resize(heads.count);
  const std::size_t state = s.K * s.V;
  const std::size_t segments = (sizes.T + s.segment() - 1) / s.segment();
  for (std::size_t i = 0; i < heads.count; ++i)
    memories[i].set(s, sizes, in, b, heads.first + i, 1, false);
  for (std::size_t segment = 0; segment < segments; ++segment)
    for (std::size_t i = 0; i < heads.count; ++i) {
      const std::size_t h = heads.first + i, item = b * sizes.H + h;
      const Chunk& c = memories[i].chunks().chunk(0);
      if (segment == 0 && in.h0) unpack_state(s, in.h0 + item * state, c.state);
      if (segment > 0 && saved)
        pack_state(s, c.state, saved + (item * (segments - 1) + segment - 1) * state);
      core_forward_segment(s, sizes, in, out, memories[i].space(), c, b, h, segment * s.segment());
      if (segment + 1 == segments && out.ht) pack_state(s, c.state, out.ht + item * state);
    }
}

// The same segment backward. The state at its begin is in the first chunk; the gradient at its end
// becomes that at its begin.
template <class Sizes>
inline void core_backward_segment(const Sizes& s, const DeltaSizes& sizes,
                                  const DeltaNetCoreInput<float>& in,
                                  const DeltaNetCoreGradients<float>& gradients,
                                  const CoreMemory& memory, std::size_t b, std::size_t h,
                                  std::size_t begin) {
  const CoreSpace& w = memory.space();
  const ChunkSpace& chunks = memory.chunks();
  const std::size_t T = sizes.T, C = s.C;
  const std::size_t count = (std::min(s.segment(), T - begin) + C - 1) / C;
  for (std::size_t i = 0; i < count; ++i) {
    const Chunk& c = chunks.chunk(i);
    load_core_chunk(s, sizes, in, w, b, h, begin + i * C, c, &w.chunks[i]);
    solve_chunk(s, c, c.state);
    if (i + 1 == count) break;
    std::copy_n(c.state, s.state(), chunks.chunk(i + 1).state);
    advance_chunk(s, c, chunks.chunk(i + 1).state);
  }
  for (std::size_t i = count; i-- > 0;) {
    const std::size_t t = begin + i * C, first = b * T + t, tokens = std::min(C, T - t);
    prefetch_rows<true>(gradients.dq, first, h, s.K, tokens);
    prefetch_rows<true>(gradients.dk, first, h, s.K, tokens);
    prefetch_rows<true>(gradients.dv, first, h, s.V, tokens);
    if (t >= C) prefetch_rows<false>(gradients.d_o, first - C, h, s.V, C);
    // The chunk of the same place in the segment before.
    if (t >= s.segment()) prefetch_core_chunk(s, in, first - s.segment(), h, C);
    core_chunk_backward(s, sizes, in, w, b, h, t, chunks.chunk(i), w.chunks[i], chunks.backward(),
                        gradients);
  }
}

template <class Sizes>
inline void core_backward_item(const Sizes& s, const DeltaSizes& sizes,
                               const DeltaNetCoreInput<float>& in, const float* saved,
                               const DeltaNetCoreGradients<float>& gradients, float* sums,
                               std::size_t b, HeadRange heads) {
  thread_local std::vector<CoreMemory> memories;
  if (memories.size() < heads.count) memories.resize(heads.count);
  const std::size_t state = s.K * s.V;
  const std::size_t segments = (sizes.T + s.segment() - 1) / s.segment();
  for (std::size_t i = 0; i < heads.count; ++i)
    memories[i].set(s, sizes, in, b, heads.first + i, s.chunks, true);
  for (std::size_t segment = segments; segment-- > 0;)
    for (std::size_t i = 0; i < heads.count; ++i) {
      const std::size_t h = heads.first + i, item = b * sizes.H + h;
      float *S = memories[i].chunks().chunk(0).state, *dS = memories[i].chunks().backward().dS;
      if (segment + 1 == segments && gradients.dht)
        unpack_state(s, gradients.dht + item * state, dS);
      unpack_segment_state(s, saved, in.h0, item, segment, segments, S);
      core_backward_segment(s, sizes, in, gradients, memories[i], b, h, segment * s.segment());
      if (segment > 0) continue;
      if (gradients.dh0) pack_state(s, dS, gradients.dh0 + item * state);
      finish_core_item(s, sizes, in, gradients, memories[i].space(), b, h,
                       sums + item * core_sums_size(sizes, in));
    }
}

void CoreForwardItem(const ChunkShape& shape, const DeltaSizes& sizes,
                     const DeltaNetCoreInput<float>& in, const DeltaNetCoreOutput<float>& out,
                     float* saved, std::size_t b, HeadRange heads) {
  with_known_sizes(shape,
                   [&](const auto& s) { core_forward_item(s, sizes, in, out, saved, b, heads); });
}

void CoreBackwardItem(const ChunkShape& shape, const DeltaSizes& sizes,
                      const DeltaNetCoreInput<float>& in, const float* saved,
                      const DeltaNetCoreGradients<float>& gradients, float* sums, std::size_t b,
                      HeadRange heads) {
  with_known_sizes(shape, [&](const auto& s) {
    core_backward_item(s, sizes, in, saved, gradients, sums, b, heads);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

HWY_EXPORT(CoreForwardItem);
HWY_EXPORT(CoreBackwardItem);

void check(const DeltaSizes& sizes, const DeltaNetCoreInput<float>& in) {
  const auto& [B, T, H, K, V] = sizes;
  if (B == 0 || T == 0 || H == 0 || K == 0 || V == 0)
    wrong_use("DeltaNet's core must have sizes of at least 1, not B={} T={} H={} K={} V={}.", B, T,
              H, K, V);
  if (!in.q || !in.k || !in.v) wrong_use("DeltaNet's core must be given q, k and v.");
  if (in.W > kWidestConvolution)
    wrong_use("The short convolution must have at most {} taps, not {}.", kWidestConvolution, in.W);
  if (in.W > 0 && (!in.q_conv || !in.k_conv || !in.v_conv))
    wrong_use("DeltaNet's core must be given the weights of all three convolutions.");
}

}  // namespace

std::size_t delta_net_core_saved_size(const DeltaSizes& sizes) {
  const std::size_t segment = chunk_shape(sizes, true, false).segment();
  return sizes.B * sizes.H * ((sizes.T - 1) / segment) * sizes.K * sizes.V;
}

void delta_net_core_forward(const DeltaSizes& sizes, const DeltaNetCoreInput<float>& input,
                            const DeltaNetCoreOutput<float>& output, float* saved) {
  check(sizes, input);
  if (!output.o) wrong_use("DeltaNet's core must be given a place for its output.");
  const ChunkShape shape = chunk_shape(sizes, true, false);
  share_heads(sizes, [&](std::size_t b, HeadRange heads) {
    HWY_DYNAMIC_DISPATCH(CoreForwardItem)(shape, sizes, input, output, saved, b, heads);
  });
  write_conv_states(sizes, input, output);
}

void delta_net_core_backward(const DeltaSizes& sizes, const DeltaNetCoreInput<float>& input,
                             const float* saved, const DeltaNetCoreGradients<float>& gradients) {
  check(sizes, input);
  if (!gradients.d_o) wrong_use("The backward of DeltaNet's core must be given d_o.");
  if (!saved && delta_net_core_saved_size(sizes) > 0)
    wrong_use("The backward of DeltaNet's core must be given what its forward saved.");
  const ChunkShape shape = chunk_shape(sizes, true, false);
  std::vector<float> sums(sizes.B * sizes.H * core_sums_size(sizes, input));
  share_heads(sizes, [&](std::size_t b, HeadRange heads) {
    HWY_DYNAMIC_DISPATCH(CoreBackwardItem)
    (shape, sizes, input, saved, gradients, sums.data(), b, heads);
  });
  add_core_sums(sizes, input, sums.data(), gradients);
}

}  // namespace shellgame
#endif
