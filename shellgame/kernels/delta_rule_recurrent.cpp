// The recurrent form of the delta rule over whole sequences, with all decays: one item is a batch
// and a head.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "shellgame/kernels/delta_rule_recurrent.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "shellgame/kernels/delta_forms.h"
#include "shellgame/kernels/head_rows-inl.h"
#include "shellgame/kernels/recurrent-inl.h"
#include "shellgame/kernels/recurrent.h"
#include "shellgame/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {

// The rows of `count` tokens from row `first` on: b = a o k, so that y = S1^T k.
inline void load_segment(const RecurrentShape& s, const DeltaRuleInput<float>& in,
                         std::size_t first, std::size_t h, std::size_t count,
                         const RecurrentRows& r) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  load_rows(in.k, first, h, s.K, count, count, 1.0f, r.k, s.kr);
  load_rows(in.q, first, h, s.K, count, count, in.scale, r.q, s.kr);
  load_rows(in.v, first, h, s.V, count, count, 1.0f, r.v, s.vr);
  if (in.gk) load_rows(in.gk, first, h, s.K, count, count, 1.0f, r.a, s.kr);
  if (in.gv) load_rows(in.gv, first, h, s.V, count, count, 1.0f, r.c, s.vr);
  for (std::size_t t = 0; t < count; ++t) {
    r.beta[t] = in.beta ? in.beta.row(first + t)[h] : 1.0f;
    float *a = r.a + t * s.kr, *b = r.b + t * s.kr, *c = r.c + t * s.vr;
    const float* k = r.k + t * s.kr;
    if (s.row_decay) {
      const FloatVector g = hn::Set(d, in.g ? in.g.row(first + t)[h] : 0.0f);
      for (std::size_t i = 0; i < s.kr; i += lanes) {
        const FloatVector gk = in.gk ? hn::Load(d, a + i) : hn::Zero(d);
        hn::Store(fast_exp(d, hn::Add(g, gk)), d, a + i);
      }
    }
    if (s.column_decay)
      for (std::size_t j = 0; j < s.vr; j += lanes)
        hn::Store(fast_exp(d, hn::Load(d, c + j)), d, c + j);
    if (in.error_term)
      for (std::size_t i = 0; i < s.K; ++i) b[i] = s.row_decay ? a[i] * k[i] : k[i];
  }
}

inline void store_gradients(const RecurrentShape& s, const DeltaRuleInput<float>& in,
                            const DeltaRuleGradients<float>& gradients, std::size_t first,
                            std::size_t h, std::size_t count, const RecurrentRows& r) {
  for (std::size_t t = 0; t < count; ++t) {
    const float *a = r.a + t * s.kr, *b = r.b + t * s.kr, *db = r.db + t * s.kr;
    float *dk = r.dk + t * s.kr, *dlog_a = r.dlog_a + t * s.kr;
    float dg = 0;
    for (std::size_t i = 0; i < s.K; ++i) {
      if (in.error_term) {
        dk[i] += s.row_decay ? a[i] * db[i] : db[i];
        dlog_a[i] += b[i] * db[i];
      }
      dg += dlog_a[i];
    }
    if (gradients.dg) gradients.dg.row(first + t)[h] = dg;
    if (gradients.dbeta) gradients.dbeta.row(first + t)[h] = r.dbeta[t];
  }
  store_rows(r.dq, s.kr, in.scale, s.K, count, gradients.dq, first, h);
  store_rows(r.dk, s.kr, 1.0f, s.K, count, gradients.dk, first, h);
  store_rows(r.dv, s.vr, 1.0f, s.V, count, gradients.dv, first, h);
  store_rows(r.dlog_a, s.kr, 1.0f, s.K, count, gradients.dgk, first, h);
  store_rows(r.dlog_c, s.vr, 1.0f, s.V, count, gradients.dgv, first, h);
}

inline RecurrentShape shape_for(const DeltaSizes& sizes, const DeltaRuleInput<float>& in) {
  RecurrentShape s = recurrent_shape(sizes, hn::Lanes(FloatTag()));
  s.column_decay = static_cast<bool>(in.gv);
  s.row_decay = in.g || in.gk || s.column_decay;
  return s;
}

void RecurrentForwardItem(const DeltaSizes& sizes, const DeltaRuleInput<float>& in,
                          const DeltaRuleOutput<float>& out, float* saved, std::size_t b,
                          std::size_t h) {
  thread_local RecurrentSpace space;
  const RecurrentShape s = shape_for(sizes, in);
  const RecurrentRows& r = space.set(s, false);
  const std::size_t T = sizes.T, item = b * sizes.H + h, state = s.K * s.V;
  const std::size_t segments = (T + s.N - 1) / s.N;
  if (in.h0) unpack_tiles(s, in.h0 + item * state, r.S);
  for (std::size_t t = 0; t < T; t += s.N) {
    const std::size_t count = std::min(s.N, T - t), first = b * T + t;
    if (saved && t > 0) pack_tiles(s, r.S, saved + (item * (segments - 1) + t / s.N - 1) * state);
    load_segment(s, in, first, h, count, r);
    recurrent_segment_of(s, r, count, false);
    store_rows(r.o, s.vr, 1.0f, s.V, count, out.o, first, h);
  }
  if (out.ht) pack_tiles(s, r.S, out.ht + item * state);
}

void RecurrentBackwardItem(const DeltaSizes& sizes, const DeltaRuleInput<float>& in,
                           const float* saved, const DeltaRuleGradients<float>& gradients,
                           std::size_t b, std::size_t h) {
  thread_local RecurrentSpace space;
  const RecurrentShape s = shape_for(sizes, in);
  const RecurrentRows& r = space.set(s, true);
  const std::size_t T = sizes.T, item = b * sizes.H + h, state = s.K * s.V;
  const std::size_t segments = (T + s.N - 1) / s.N;
  if (gradients.dht) unpack_tiles(s, gradients.dht + item * state, r.dS);
  for (std::size_t segment = segments; segment-- > 0;) {
    const std::size_t t = segment * s.N, count = std::min(s.N, T - t), first = b * T + t;
    if (segment > 0)
      unpack_tiles(s, saved + (item * (segments - 1) + segment - 1) * state, r.S);
    else if (in.h0)
      unpack_tiles(s, in.h0 + item * state, r.S);
    else
      std::fill_n(r.S, s.state(), 0.0f);
    load_segment(s, in, first, h, count, r);
    if (gradients.d_o) load_rows(gradients.d_o, first, h, s.V, count, count, 1.0f, r.d_o, s.vr);
    recurrent_segment_of(s, r, count, true);
    store_gradients(s, in, gradients, first, h, count, r);
  }
  if (gradients.dh0) pack_tiles(s, r.dS, gradients.dh0 + item * state);
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "shellgame/kernels/share_work.h"

namespace shellgame {

HWY_EXPORT(RecurrentForwardItem);
HWY_EXPORT(RecurrentBackwardItem);

void delta_rule_forward_recurrent(const DeltaSizes& sizes, const DeltaRuleInput<float>& input,
                                  const DeltaRuleOutput<float>& output, float* saved) {
  share_work(sizes.B * sizes.H, sizes.work(), [&](std::size_t i) {
    HWY_DYNAMIC_DISPATCH(RecurrentForwardItem)
    (sizes, input, output, saved, i / sizes.H, i % sizes.H);
  });
}

void delta_rule_backward_recurrent(const DeltaSizes& sizes, const DeltaRuleInput<float>& input,
                                   const float* saved, const DeltaRuleGradients<float>& gradients) {
  share_work(sizes.B * sizes.H, sizes.work(), [&](std::size_t i) {
    HWY_DYNAMIC_DISPATCH(RecurrentBackwardItem)
    (sizes, input, saved, gradients, i / sizes.H, i % sizes.H);
  });
}

}  // namespace shellgame
#endif
