#include "shellgame/kernels/dplr_rule.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "shellgame/kernels/dplr_rule.cpp"
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

inline void load_dplr_segment(const RecurrentShape& s, const DplrRuleInput<float>& in,
                              std::size_t first, std::size_t h, std::size_t count,
                              const RecurrentRows& r) {
  const FloatTag d;
  load_rows(in.q, first, h, s.K, count, count, in.scale, r.q, s.kr);
  load_rows(in.k, first, h, s.K, count, count, 1.0f, r.k, s.kr);
  load_rows(in.w, first, h, s.K, count, count, 1.0f, r.a, s.kr);
  load_rows(in.a, first, h, s.K, count, count, 1.0f, r.alpha, s.kr);
  load_rows(in.b, first, h, s.K, count, count, 1.0f, r.b, s.kr);
  load_rows(in.v, first, h, s.V, count, count, 1.0f, r.v, s.vr);
  for (std::size_t t = 0; t < count; ++t)
    for (std::size_t i = 0; i < s.K; i += hn::Lanes(d)) {
      float* place = r.a + t * s.kr + i;
      hn::Store(fast_exp(d, hn::Load(d, place)), d, place);
    }
}

inline RecurrentShape dplr_shape(const DeltaSizes& sizes) {
  RecurrentShape s = recurrent_shape(sizes, hn::Lanes(FloatTag()));
  s.delta = false;
  return s;
}

void DplrForwardItem(const DeltaSizes& sizes, const DplrRuleInput<float>& in,
                     const DeltaRuleOutput<float>& out, float* saved, std::size_t b,
                     std::size_t h) {
  thread_local RecurrentSpace space;
  const RecurrentShape s = dplr_shape(sizes);
  const RecurrentRows& r = space.set(s, false);
  const std::size_t T = sizes.T, item = b * sizes.H + h, state = s.K * s.V;
  const std::size_t segments = (T + s.N - 1) / s.N;
  if (in.h0) unpack_tiles(s, in.h0 + item * state, r.S);
  for (std::size_t t = 0; t < T; t += s.N) {
    const std::size_t count = std::min(s.N, T - t), first = b * T + t;
    if (saved && t > 0) pack_tiles(s, r.S, saved + (item * (segments - 1) + t / s.N - 1) * state);
    load_dplr_segment(s, in, first, h, count, r);
    recurrent_segment_of(s, r, count, false);
    store_rows(r.o, s.vr, 1.0f, s.V, count, out.o, first, h);
  }
  if (out.ht) pack_tiles(s, r.S, out.ht + item * state);
}

void DplrBackwardItem(const DeltaSizes& sizes, const DplrRuleInput<float>& in, const float* saved,
                      const DplrRuleGradients<float>& gradients, std::size_t b, std::size_t h) {
  thread_local RecurrentSpace space;
  const RecurrentShape s = dplr_shape(sizes);
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
    load_dplr_segment(s, in, first, h, count, r);
    if (gradients.d_o) load_rows(gradients.d_o, first, h, s.V, count, count, 1.0f, r.d_o, s.vr);
    recurrent_segment_of(s, r, count, true);
    store_rows(r.dq, s.kr, in.scale, s.K, count, gradients.dq, first, h);
    store_rows(r.dk, s.kr, 1.0f, s.K, count, gradients.dk, first, h);
    store_rows(r.dlog_a, s.kr, 1.0f, s.K, count, gradients.dw, first, h);
    store_rows(r.dalpha, s.kr, 1.0f, s.K, count, gradients.da, first, h);
    store_rows(r.db, s.kr, 1.0f, s.K, count, gradients.db, first, h);
    store_rows(r.dv, s.vr, 1.0f, s.V, count, gradients.dv, first, h);
  }
  if (gradients.dh0) pack_tiles(s, r.dS, gradients.dh0 + item * state);
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "shellgame/kernels/share_work.h"
#include "shellgame/text/error.h"

namespace shellgame {

HWY_EXPORT(DplrForwardItem);
HWY_EXPORT(DplrBackwardItem);

namespace {

void check(const DeltaSizes& sizes, const DplrRuleInput<float>& in) {
  const auto& [B, T, H, K, V] = sizes;
  if (B == 0 || T == 0 || H == 0 || K == 0 || V == 0)
    wrong_use("The low-rank rule must have sizes of at least 1, not B={} T={} H={} K={} V={}.", B,
              T, H, K, V);
  if (!in.q || !in.w || !in.a || !in.b || !in.k || !in.v)
    wrong_use("The low-rank rule must be given q, w, a, b, k and v.");
}

}  // namespace

std::size_t dplr_rule_saved_size(const DeltaSizes& sizes) {
  if (sizes.T == 0) return 0;
  return sizes.B * sizes.H * ((sizes.T - 1) / recurrent_segment(sizes)) * sizes.K * sizes.V;
}

void dplr_rule_forward(const DeltaSizes& sizes, const DplrRuleInput<float>& input,
                       const DeltaRuleOutput<float>& output, float* saved) {
  check(sizes, input);
  if (!output.o) wrong_use("The low-rank rule's forward must be given a place for o.");
  share_work(sizes.B * sizes.H, sizes.work(), [&](std::size_t i) {
    HWY_DYNAMIC_DISPATCH(DplrForwardItem)
    (sizes, input, output, saved, i / sizes.H, i % sizes.H);
  });
}

void dplr_rule_backward(const DeltaSizes& sizes, const DplrRuleInput<float>& input,
                        const float* saved, const DplrRuleGradients<float>& gradients) {
  check(sizes, input);
  if (!saved && dplr_rule_saved_size(sizes) > 0)
    wrong_use("The low-rank rule's backward must be given what its forward saved.");
  share_work(sizes.B * sizes.H, sizes.work(), [&](std::size_t i) {
    HWY_DYNAMIC_DISPATCH(DplrBackwardItem)
    (sizes, input, saved, gradients, i / sizes.H, i % sizes.H);
  });
}

}  // namespace shellgame
#endif
