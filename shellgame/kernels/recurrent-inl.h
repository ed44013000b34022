// The recurrent form of recurrent.h on one tile of value columns and one segment of tokens, for one
// Highway target. Included once by each target, as small_matrix-inl.h.
#if defined(SHELLGAME_KERNELS_RECURRENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHELLGAME_KERNELS_RECURRENT_INL_H_
#undef SHELLGAME_KERNELS_RECURRENT_INL_H_
#else
#define SHELLGAME_KERNELS_RECURRENT_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "shellgame/kernels/recurrent.h"
#include "shellgame/kernels/small_matrix-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {

// What the recurrence has, known when it is compiled.
template <bool kDelta_, bool kRowDecay_, bool kColumnDecay_>
struct Recurrence {
  static constexpr bool kDelta = kDelta_, kRowDecay = kRowDecay_, kColumnDecay = kColumnDecay_;
};

// `count` tokens of a segment on the tile S[K,width] of columns from `column` on. Fills o, y, u.
// With `states` [count+1,K,width], whose first is S, all states are kept there; else S is changed.
template <class R, int NV>
HWY_INLINE void recurrent_forward(const RecurrentShape& s, const RecurrentRows& r,
                                  std::size_t column, std::size_t count, float* S, float* states) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d), size = s.kr * s.width;
  FloatVector y[NV];
  for (int j = 0; j < NV; ++j) y[j] = hn::Zero(d);
  for (std::size_t i = 0; i < s.K; ++i) {
    const FloatVector b = hn::Set(d, r.b[i]);
    for (std::size_t j = 0; j < NV; ++j)
      y[j] = hn::MulAdd(b, hn::Load(d, S + i * s.width + j * lanes), y[j]);
  }
  for (std::size_t t = 0; t < count; ++t) {
    const std::size_t place = t * s.vr + column;
    FloatVector v[NV], o[NV], next[NV];
    for (std::size_t j = 0; j < NV; ++j) {
      if constexpr (R::kColumnDecay) y[j] = hn::Mul(y[j], hn::Load(d, r.c + place + j * lanes));
      hn::Store(y[j], d, r.y + place + j * lanes);
      v[j] = hn::Load(d, r.v + place + j * lanes);
      if constexpr (R::kDelta) {
        v[j] = hn::Mul(hn::Set(d, r.beta[t]), hn::Sub(v[j], y[j]));
        hn::Store(v[j], d, r.u + place + j * lanes);
      }
      o[j] = next[j] = hn::Zero(d);
    }
    const float *q = r.q + t * s.kr, *k = r.k + t * s.kr, *a = r.a + t * s.kr;
    const float *alpha = r.alpha + t * s.kr, *b = r.b + (t + 1 < count ? t + 1 : t) * s.kr;
    const float* from = states ? states + t * size : S;
    float* to = states ? states + (t + 1) * size : S;
    for (std::size_t i = 0; i < s.K; ++i) {
      const FloatVector ki = hn::Set(d, k[i]), qi = hn::Set(d, q[i]), bi = hn::Set(d, b[i]);
      for (std::size_t j = 0; j < NV; ++j) {
        FloatVector x = hn::Load(d, from + i * s.width + j * lanes);
        if constexpr (R::kRowDecay) x = hn::Mul(x, hn::Set(d, a[i]));
        if constexpr (R::kColumnDecay) x = hn::Mul(x, hn::Load(d, r.c + place + j * lanes));
        x = hn::MulAdd(ki, v[j], x);
        if constexpr (!R::kDelta) x = hn::MulAdd(hn::Set(d, alpha[i]), y[j], x);
        hn::Store(x, d, to + i * s.width + j * lanes);
        o[j] = hn::MulAdd(qi, x, o[j]);
        next[j] = hn::MulAdd(bi, x, next[j]);
      }
    }
    for (std::size_t j = 0; j < NV; ++j) {
      hn::Store(o[j], d, r.o + place + j * lanes);
      y[j] = next[j];
    }
  }
}

// Token t backward. `before` and `after` are its states, dS [K,width] the gradient of `after` from
// later tokens, which becomes that of `before`. Gradients of rows over K are added to, as tiles
// share them; those over V are set.
template <class R, int NV>
HWY_INLINE void recurrent_backward(const RecurrentShape& s, const RecurrentRows& r,
                                   std::size_t column, std::size_t t, const float* before,
                                   const float* after, float* dS) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d), W = s.width, place = t * s.vr + column;
  const std::size_t row = t * s.kr;
  const float *q = r.q + row, *k = r.k + row, *a = r.a + row, *b = r.b + row;
  const float *alpha = r.alpha + row, *w = (R::kDelta ? r.u : r.v) + place, *y = r.y + place;
  FloatVector through_k[NV], through_alpha[NV];
  for (int j = 0; j < NV; ++j) through_k[j] = through_alpha[j] = hn::Zero(d);
  for (std::size_t i = 0; i < s.K; i += 4) {
    FloatVector dq[4], dk[4], dalpha[4];
    for (std::size_t n = 0; n < 4; ++n) {
      dq[n] = dk[n] = dalpha[n] = hn::Zero(d);
      const FloatVector qi = hn::Set(d, q[i + n]), ki = hn::Set(d, k[i + n]);
      for (std::size_t j = 0; j < NV; ++j) {
        const std::size_t element = (i + n) * W + j * lanes;
        const FloatVector d_o = hn::Load(d, r.d_o + place + j * lanes);
        const FloatVector x = hn::MulAdd(qi, d_o, hn::Load(d, dS + element));
        hn::Store(x, d, dS + element);
        dq[n] = hn::MulAdd(hn::Load(d, after + element), d_o, dq[n]);
        dk[n] = hn::MulAdd(x, hn::Load(d, w + j * lanes), dk[n]);
        through_k[j] = hn::MulAdd(ki, x, through_k[j]);
        if constexpr (!R::kDelta) {
          dalpha[n] = hn::MulAdd(x, hn::Load(d, y + j * lanes), dalpha[n]);
          through_alpha[j] = hn::MulAdd(hn::Set(d, alpha[i + n]), x, through_alpha[j]);
        }
      }
    }
    add_sums(dq[0], dq[1], dq[2], dq[3], r.dq + row + i);
    add_sums(dk[0], dk[1], dk[2], dk[3], r.dk + row + i);
    if constexpr (!R::kDelta)
      add_sums(dalpha[0], dalpha[1], dalpha[2], dalpha[3], r.dalpha + row + i);
  }
  FloatVector dy[NV], dlog_c[NV];
  FloatVector dbeta = hn::Zero(d);
  for (std::size_t j = 0; j < NV; ++j) {
    const FloatVector yj = hn::Load(d, y + j * lanes);
    if constexpr (R::kDelta) {
      dbeta = hn::MulAdd(through_k[j], hn::Sub(hn::Load(d, r.v + place + j * lanes), yj), dbeta);
      through_k[j] = hn::Mul(through_k[j], hn::Set(d, r.beta[t]));
      dy[j] = hn::Neg(through_k[j]);
    } else {
      dy[j] = through_alpha[j];
    }
    hn::Store(through_k[j], d, r.dv + place + j * lanes);
    dlog_c[j] = hn::Mul(dy[j], yj);
    if constexpr (R::kColumnDecay) dy[j] = hn::Mul(dy[j], hn::Load(d, r.c + place + j * lanes));
  }
  if constexpr (R::kDelta) r.dbeta[t] += hn::GetLane(hn::SumOfLanes(d, dbeta));
  for (std::size_t i = 0; i < s.K; i += 4) {
    FloatVector db[4], da[4];
    for (std::size_t n = 0; n < 4; ++n) {
      db[n] = da[n] = hn::Zero(d);
      const FloatVector bi = hn::Set(d, b[i + n]);
      for (std::size_t j = 0; j < NV; ++j) {
        const std::size_t element = (i + n) * W + j * lanes;
        const FloatVector old = hn::Load(d, before + element);
        FloatVector x = hn::Load(d, dS + element);
        if constexpr (R::kRowDecay) x = hn::Mul(x, hn::Set(d, a[i + n]));
        if constexpr (R::kColumnDecay) x = hn::Mul(x, hn::Load(d, r.c + place + j * lanes));
        db[n] = hn::MulAdd(old, dy[j], db[n]);
        if constexpr (R::kRowDecay) da[n] = hn::MulAdd(x, old, da[n]);
        if constexpr (R::kColumnDecay) dlog_c[j] = hn::MulAdd(x, old, dlog_c[j]);
        hn::Store(hn::MulAdd(bi, dy[j], x), d, dS + element);
      }
    }
    add_sums(db[0], db[1], db[2], db[3], r.db + row + i);
    if constexpr (R::kRowDecay) add_sums(da[0], da[1], da[2], da[3], r.dlog_a + row + i);
  }
  if constexpr (R::kColumnDecay)
    for (std::size_t j = 0; j < NV; ++j) hn::Store(dlog_c[j], d, r.dlog_c + place + j * lanes);
}

// A segment of `count` tokens, all tiles; r.S becomes the state after it.
template <class R>
HWY_NOINLINE void recurrent_forward_segment(const RecurrentShape& s, const RecurrentRows& r,
                                            std::size_t count) {
  for (std::size_t tile = 0; tile < s.tiles; ++tile) {
    float* S = r.S + tile * s.kr * s.width;
    if (s.width == 4 * hn::Lanes(FloatTag()))
      recurrent_forward<R, 4>(s, r, tile * s.width, count, S, nullptr);
    else
      recurrent_forward<R, 2>(s, r, tile * s.width, count, S, nullptr);
  }
}

// The same backward: r.S is the state before the segment, r.dS the gradient of that after it, which
// becomes that of r.S.
template <class R>
HWY_NOINLINE void recurrent_backward_segment(const RecurrentShape& s, const RecurrentRows& r,
                                             std::size_t count) {
  const std::size_t size = s.kr * s.width;
  for (float* sums : {r.dq, r.dk, r.dlog_a, r.db, r.dalpha}) std::fill_n(sums, count * s.kr, 0.0f);
  std::fill_n(r.dbeta, count, 0.0f);
  for (std::size_t tile = 0; tile < s.tiles; ++tile) {
    const std::size_t column = tile * s.width;
    std::copy_n(r.S + tile * size, size, r.states);
    const auto run = [&]<int NV>() {
      recurrent_forward<R, NV>(s, r, column, count, r.states, r.states);
      for (std::size_t t = count; t-- > 0;)
        recurrent_backward<R, NV>(s, r, column, t, r.states + t * size, r.states + (t + 1) * size,
                                  r.dS + tile * size);
    };
    if (s.width == 4 * hn::Lanes(FloatTag()))
      run.template operator()<4>();
    else
      run.template operator()<2>();
  }
}

// Calls the one compiled for what the shape says.
inline void recurrent_segment_of(const RecurrentShape& s, const RecurrentRows& r, std::size_t count,
                                 bool backward) {
  const auto call = [&]<class R>(R) {
    if (backward)
      recurrent_backward_segment<R>(s, r, count);
    else
      recurrent_forward_segment<R>(s, r, count);
  };
  if (!s.delta)
    call(Recurrence<false, true, false>());
  else if (s.column_decay)
    call(Recurrence<true, true, true>());
  else if (s.row_decay)
    call(Recurrence<true, true, false>());
  else
    call(Recurrence<true, false, false>());
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#endif
