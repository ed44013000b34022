// The chunked form of the delta rule over whole sequences: one item is a batch and some heads,
// which take turns segment by segment.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "shellgame/kernels/delta_rule_chunked.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "shellgame/kernels/delta_chunk-inl.h"
#include "shellgame/kernels/delta_chunk.h"
#include "shellgame/kernels/delta_forms.h"
#include "shellgame/kernels/head_rows-inl.h"
#include "shellgame/kernels/share_heads.h"

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {

template <class Sizes>
inline void load_chunk(const Sizes& s, const DeltaRuleInput<float>& in, std::size_t first,
                       std::size_t head, std::size_t count, const Chunk& c) {
  load_rows(in.k, first, head, s.K, count, s.C, 1.0f, c.kq, s.kr);
  load_rows(in.q, first, head, s.K, count, s.C, in.scale, c.kq + s.C * s.kr, s.kr);
  load_rows(in.v, first, head, s.V, count, s.C, 1.0f, c.e, s.vr);
  // What another head, of numbers that are not finite, may have left beyond the width.
  for (std::size_t i = 0; s.V < s.Vp && i < s.C; ++i)
    std::fill(c.e + i * s.vr + s.V, c.e + i * s.vr + s.Vp, 0.0f);
  for (std::size_t i = 0; i < s.C; ++i) {
    const bool real = i < count;
    c.beta[i] = !real ? 0.0f : in.beta ? in.beta.row(first + i)[head] : 1.0f;
    if (s.decay) c.decay[i] = real ? in.g.row(first + i)[head] : 0.0f;
  }
}

template <class Sizes>
inline void prefetch_chunk(const Sizes& s, const DeltaRuleInput<float>& in, std::size_t first,
                           std::size_t head, std::size_t count) {
  prefetch_rows<false>(in.q, first, head, s.K, count);
  prefetch_rows<false>(in.k, first, head, s.K, count);
  prefetch_rows<false>(in.v, first, head, s.V, count);
  prefetch_rows<false>(in.beta, first, head, 1, count);
}

// The tokens of a segment of one head. S is the state at its begin and then at its end.
template <class Sizes>
inline void forward_segment(const Sizes& s, const DeltaSizes& sizes,
                            const DeltaRuleInput<float>& in, const DeltaRuleOutput<float>& out,
                            std::size_t b, std::size_t h, std::size_t begin, const Chunk& c,
                            float* o, float* S) {
  const std::size_t T = sizes.T, end = std::min(T, begin + s.segment());
  for (std::size_t t = begin; t < end; t += s.C) {
    const std::size_t count = std::min(s.C, T - t), first = b * T + t;
    load_chunk(s, in, first, h, count, c);
    prefetch_rows<true>(out.o, first, h, s.V, count);
    if (t + s.C < T) prefetch_chunk(s, in, first + s.C, h, std::min(s.C, T - t - s.C));
    prepare_chunk(s, c);
    solve_chunk(s, c, S);
    output_chunk(s, c, S, o);
    store_rows(o, s.vr, 1.0f, s.V, count, out.o, first, h);
    if (t + s.C < T || out.ht) advance_chunk(s, c, S);
  }
}

template <class Sizes>
inline void forward_item(const Sizes& s, const DeltaSizes& sizes, const DeltaRuleInput<float>& in,
                         const DeltaRuleOutput<float>& out, float* saved, std::size_t b,
                         HeadRange heads) {
  thread_local ChunkSpace space;
  space.set(s, 1, false, s.C * s.vr + heads.count * s.state());
  const Chunk& c = space.chunk(0);
  float *o = space.extra(), *states = o + s.C * s.vr;
  const std::size_t state = s.K * s.V;
  const std::size_t segments = (sizes.T + s.segment() - 1) / s.segment();
  for (std::size_t segment = 0; segment < segments; ++segment)
    for (std::size_t i = 0; i < heads.count; ++i) {
      const std::size_t h = heads.first + i, item = b * sizes.H + h;
      float* S = states + i * s.state();
      if (segment == 0 && in.h0) unpack_state(s, in.h0 + item * state, S);
      if (segment > 0 && saved)
        pack_state(s, S, saved + (item * (segments - 1) + segment - 1) * state);
      forward_segment(s, sizes, in, out, b, h, segment * s.segment(), c, o, S);
      if (segment + 1 == segments && out.ht) pack_state(s, S, out.ht + item * state);
    }
}

// The same segment backward: dS is the gradient at its end and then at its begin. The state at its
// begin is in the first chunk.
template <class Sizes>
inline void backward_segment(const Sizes& s, const DeltaSizes& sizes,
                             const DeltaRuleInput<float>& in,
                             const DeltaRuleGradients<float>& gradients, std::size_t b,
                             std::size_t h, std::size_t begin, const ChunkSpace& space, float* dS) {
  const BackwardSpace& w = space.backward();
  const std::size_t T = sizes.T, C = s.C;
  const std::size_t chunks = (std::min(s.segment(), T - begin) + C - 1) / C;
  for (std::size_t i = 0; i < chunks; ++i) {
    const Chunk& c = space.chunk(i);
    const std::size_t t = begin + i * C;
    load_chunk(s, in, b * T + t, h, std::min(C, T - t), c);
    prepare_chunk(s, c);
    solve_chunk(s, c, c.state);
    if (i + 1 == chunks) break;
    std::copy_n(c.state, s.state(), space.chunk(i + 1).state);
    advance_chunk(s, c, space.chunk(i + 1).state);
  }
  for (std::size_t i = chunks; i-- > 0;) {
    const Chunk& c = space.chunk(i);
    const std::size_t t = begin + i * C, count = std::min(C, T - t), first = b * T + t;
    if (gradients.d_o)
      load_rows(gradients.d_o, first, h, s.V, count, C, 1.0f, w.z + C * s.vr, s.vr);
    prefetch_rows<true>(gradients.dq, first, h, s.K, count);
    prefetch_rows<true>(gradients.dk, first, h, s.K, count);
    prefetch_rows<true>(gradients.dv, first, h, s.V, count);
    if (t >= C) prefetch_rows<false>(gradients.d_o, first - C, h, s.V, C);
    // The chunk of the same place in the segment before.
    if (t >= s.segment()) prefetch_chunk(s, in, first - s.segment(), h, C);
    chunk_backward(s, c, w, c.state, dS);
    store_rows(w.dkq, s.kr, 1.0f, s.K, count, gradients.dk, first, h);
    store_rows(w.dkq + C * s.kr, s.kr, in.scale, s.K, count, gradients.dq, first, h);
    if (s.error) {
      store_rows(w.z, s.vr, -1.0f, s.V, count, gradients.dv, first, h);
    } else {
      scale_rows(C, s.Vp, s.vr, c.beta, w.y, w.y);
      store_rows(w.y, s.vr, 1.0f, s.V, count, gradients.dv, first, h);
    }
    if (gradients.dbeta)
      for (std::size_t j = 0; j < count; ++j) gradients.dbeta.row(first + j)[h] = w.dbeta[j];
    if (gradients.dg)
      for (std::size_t j = 0; j < count; ++j) gradients.dg.row(first + j)[h] = w.dg[j];
  }
}

template <class Sizes>
inline void backward_item(const Sizes& s, const DeltaSizes& sizes, const DeltaRuleInput<float>& in,
                          const float* saved, const DeltaRuleGradients<float>& gradients,
                          std::size_t b, HeadRange heads) {
  thread_local ChunkSpace space;
  space.set(s, s.chunks, true, heads.count * s.state());
  const std::size_t state = s.K * s.V;
  const std::size_t segments = (sizes.T + s.segment() - 1) / s.segment();
  for (std::size_t segment = segments; segment-- > 0;)
    for (std::size_t i = 0; i < heads.count; ++i) {
      const std::size_t h = heads.first + i, item = b * sizes.H + h;
      float *S = space.chunk(0).state, *dS = space.extra() + i * s.state();
      if (segment + 1 == segments && gradients.dht)
        unpack_state(s, gradients.dht + item * state, dS);
      unpack_segment_state(s, saved, in.h0, item, segment, segments, S);
      backward_segment(s, sizes, in, gradients, b, h, segment * s.segment(), space, dS);
      if (segment == 0 && gradients.dh0) pack_state(s, dS, gradients.dh0 + item * state);
    }
}

void ChunkedForwardItem(const ChunkShape& shape, const DeltaSizes& sizes,
                        const DeltaRuleInput<float>& in, const DeltaRuleOutput<float>& out,
                        float* saved, std::size_t b, HeadRange heads) {
  with_known_sizes(shape, [&](const auto& s) { forward_item(s, sizes, in, out, saved, b, heads); });
}

void ChunkedBackwardItem(const ChunkShape& shape, const DeltaSizes& sizes,
                         const DeltaRuleInput<float>& in, const float* saved,
                         const DeltaRuleGradients<float>& gradients, std::size_t b,
                         HeadRange heads) {
  with_known_sizes(shape,
                   [&](const auto& s) { backward_item(s, sizes, in, saved, gradients, b, heads); });
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shellgame {

HWY_EXPORT(ChunkedForwardItem);
HWY_EXPORT(ChunkedBackwardItem);

void delta_rule_forward_chunked(const ChunkShape& shape, const DeltaSizes& sizes,
                                const DeltaRuleInput<float>& input,
                                const DeltaRuleOutput<float>& output, float* saved) {
  share_heads(sizes, [&](std::size_t b, HeadRange heads) {
    HWY_DYNAMIC_DISPATCH(ChunkedForwardItem)(shape, sizes, input, output, saved, b, heads);
  });
}

void delta_rule_backward_chunked(const ChunkShape& shape, const DeltaSizes& sizes,
                                 const DeltaRuleInput<float>& input, const float* saved,
                                 const DeltaRuleGradients<float>& gradients) {
  share_heads(sizes, [&](std::size_t b, HeadRange heads) {
    HWY_DYNAMIC_DISPATCH(ChunkedBackwardItem)(shape, sizes, input, saved, gradients, b, heads);
  });
}

}  // namespace shellgame
#endif
