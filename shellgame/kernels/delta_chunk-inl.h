// The delta rule on C tokens at once, as matrix products, for one Highway target. With L the strict
// lower part of K K^T and P the lower part of Q K^T (both times e^{G_i-G_j} under a decay):
//   E = V - K S - L (beta E) by substitution, U = beta E, O = Q S + P U, S <- S + K^T U.
// No inverse is formed. Included once by each target, as small_matrix-inl.h.
#if defined(SHELLGAME_KERNELS_DELTA_CHUNK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHELLGAME_KERNELS_DELTA_CHUNK_INL_H_
#undef SHELLGAME_KERNELS_DELTA_CHUNK_INL_H_
#else
#define SHELLGAME_KERNELS_DELTA_CHUNK_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "shellgame/kernels/delta_chunk.h"
#include "shellgame/kernels/small_matrix-inl.h"
#include "shellgame/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {

// What follows is written for any `Sizes` with the members of a ChunkShape: a ChunkShape itself, or
// one whose sizes the compiler knows, so that loops and products are unrolled. At
// widths of 16 and 32 that takes 0.6 to 0.75 of the time.
template <std::size_t kWidth>
struct KnownChunkShape : ChunkShape {
  explicit KnownChunkShape(const ChunkShape& shape) : ChunkShape(shape) {}
  static constexpr std::size_t C = kChunkTokens, cr = padded_width(C);
  static constexpr std::size_t K = kWidth, V = kWidth, Kp = padded_width(K), Vp = padded_width(V);
  static constexpr std::size_t kr = row_distance(Kp), vr = row_distance(Vp);
  static constexpr bool error = true, decay = false;
};

// Calls `work` with the shape, its sizes known where they are usual ones. Targets that nobody runs
// for their speed are left out, since every width is compiled again.
template <class Work>
HWY_INLINE void with_known_sizes(const ChunkShape& s, const Work& work) {
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_SSE4
  if (s.C == kChunkTokens && s.K == s.V && s.error && !s.decay) {
    if (s.K == 16) return work(KnownChunkShape<16>(s));
    if (s.K == 32) return work(KnownChunkShape<32>(s));
    if (s.K == 64) return work(KnownChunkShape<64>(s));
    if (s.K == 128) return work(KnownChunkShape<128>(s));
  }
#endif
  work(s);
}

template <Store kStore, Shape kShape = Shape::kFull, class Sizes>
HWY_INLINE void product(const Sizes&, std::size_t rows, std::size_t columns, std::size_t depth,
                        MatrixA a, const float* b, std::size_t b_row, float* c, std::size_t c_row) {
  if constexpr (std::is_same_v<Sizes, ChunkShape>)
    multiply<kStore, kShape>(rows, columns, depth, a, b, b_row, c, c_row);
  else
    multiply_unrolled<kStore, kShape>(rows, columns, depth, a, b, b_row, c, c_row);
}

// Rows i of `matrix` [C,C] keep their first i + `more` elements; the others become 0. Under a decay
// element (i, j) is multiplied with e^{G_i - G_j}.
template <class Sizes>
inline void keep_lower(const Sizes& s, const Chunk& c, std::size_t more, float* matrix) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < s.C; ++i) {
    float* row = matrix + i * s.cr;
    for (std::size_t j = 0; j < s.C; j += lanes) {
      const std::size_t kept = i + more > j ? i + more - j : 0;
      if (kept >= lanes && !s.decay) continue;
      FloatVector value = hn::Load(d, row + j);
      if (s.decay) value = hn::Mul(value, hn::Load(d, c.decays + i * s.cr + j));
      if (kept < lanes) value = hn::IfThenElseZero(hn::FirstN(d, kept), value);
      hn::Store(value, d, row + j);
    }
  }
}

// The factors e^{G_i}, e^{G_C-G_i}, e^{G_i-G_j} of a decay.
template <class Sizes>
inline void prepare_decay(const Sizes& s, const Chunk& c) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  float sum = 0;
  for (std::size_t i = 0; i < s.C; ++i) c.sums[i] = sum += c.decay[i];
  for (std::size_t i = 0; i < s.C; i += lanes) {
    const FloatVector sums = hn::Load(d, c.sums + i);
    hn::Store(fast_exp(d, sums), d, c.from_begin + i);
    hn::Store(fast_exp(d, hn::Sub(hn::Set(d, sum), sums)), d, c.to_end + i);
  }
  for (std::size_t i = 0; i < s.C; ++i)
    for (std::size_t j = 0; j < s.C; j += lanes) {
      const std::size_t kept = i + 1 > j ? i + 1 - j : 0;
      FloatVector value = hn::Zero(d);
      if (kept > 0) value = fast_exp(d, hn::Sub(hn::Set(d, c.sums[i]), hn::Load(d, c.sums + j)));
      if (kept < lanes) value = hn::IfThenElseZero(hn::FirstN(d, kept), value);
      hn::Store(value, d, c.decays + i * s.cr + j);
    }
}

// E and U in place of R: E_i = R_i - sum_{j<i} L_ij U_j, U_i = beta_i E_i. Blocks of 4 rows: what
// earlier blocks give is a product, the rest is done in registers.
template <int NR, class Sizes>
HWY_INLINE void substitute_forward(const Sizes& s, std::size_t column, const float* L,
                                   const float* beta, float* e, float* u) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < s.C; i += 4) {
    FloatVector sum[4][NR];
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t j = 0; j < NR; ++j)
        sum[r][j] = hn::Load(d, e + (i + r) * s.vr + column + j * lanes);
    for (std::size_t p = 0; p < i; ++p) {
      FloatVector row[NR];
      for (std::size_t j = 0; j < NR; ++j) row[j] = hn::Load(d, u + p * s.vr + column + j * lanes);
      for (std::size_t r = 0; r < 4; ++r) {
        const FloatVector factor = hn::Set(d, L[(i + r) * s.cr + p]);
        for (std::size_t j = 0; j < NR; ++j) sum[r][j] = hn::NegMulAdd(factor, row[j], sum[r][j]);
      }
    }
    for (std::size_t r = 0; r < 4; ++r) {
      FloatVector row[NR];
      const FloatVector b = hn::Set(d, beta[i + r]);
      for (std::size_t j = 0; j < NR; ++j) {
        const std::size_t place = (i + r) * s.vr + column + j * lanes;
        row[j] = hn::Mul(b, sum[r][j]);
        hn::Store(sum[r][j], d, e + place);
        hn::Store(row[j], d, u + place);
      }
      for (std::size_t later = r + 1; later < 4; ++later) {
        const FloatVector factor = hn::Set(d, L[(i + later) * s.cr + i + r]);
        for (std::size_t j = 0; j < NR; ++j)
          sum[later][j] = hn::NegMulAdd(factor, row[j], sum[later][j]);
      }
    }
  }
}

// The transpose of that: y_i = dU_i + sum_{j>i} L_ji z_j in place of dU, z_i = -beta_i y_i.
template <int NR, class Sizes>
HWY_INLINE void substitute_backward(const Sizes& s, std::size_t column, const float* L,
                                    const float* beta, float* y, float* z) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = s.C; i > 0;) {
    i -= 4;
    FloatVector sum[4][NR];
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t j = 0; j < NR; ++j)
        sum[r][j] = hn::Load(d, y + (i + r) * s.vr + column + j * lanes);
    for (std::size_t p = i + 4; p < s.C; ++p) {
      FloatVector row[NR];
      for (std::size_t j = 0; j < NR; ++j) row[j] = hn::Load(d, z + p * s.vr + column + j * lanes);
      for (std::size_t r = 0; r < 4; ++r) {
        const FloatVector factor = hn::Set(d, L[p * s.cr + i + r]);
        for (std::size_t j = 0; j < NR; ++j) sum[r][j] = hn::MulAdd(factor, row[j], sum[r][j]);
      }
    }
    for (std::size_t r = 4; r-- > 0;) {
      FloatVector row[NR];
      const FloatVector b = hn::Set(d, -beta[i + r]);
      for (std::size_t j = 0; j < NR; ++j) {
        const std::size_t place = (i + r) * s.vr + column + j * lanes;
        row[j] = hn::Mul(b, sum[r][j]);
        hn::Store(sum[r][j], d, y + place);
        hn::Store(row[j], d, z + place);
      }
      for (std::size_t earlier = 0; earlier < r; ++earlier) {
        const FloatVector factor = hn::Set(d, L[(i + r) * s.cr + i + earlier]);
        for (std::size_t j = 0; j < NR; ++j)
          sum[earlier][j] = hn::MulAdd(factor, row[j], sum[earlier][j]);
      }
    }
  }
}

// to[i] = factor_i * from[i], for C rows of `width`.
inline void scale_rows(std::size_t rows, std::size_t width, std::size_t row, const float* factors,
                       const float* from, float* to) {
  const FloatTag d;
  for (std::size_t i = 0; i < rows; ++i) {
    const FloatVector factor = hn::Set(d, factors[i]);
    for (std::size_t j = 0; j < width; j += hn::Lanes(d))
      hn::Store(hn::Mul(factor, hn::Load(d, from + i * row + j)), d, to + i * row + j);
  }
}

HWY_INLINE float dot(std::size_t width, const float* a, const float* b) {
  const FloatTag d;
  FloatVector sum = hn::Zero(d);
  for (std::size_t j = 0; j < width; j += hn::Lanes(d))
    sum = hn::MulAdd(hn::Load(d, a + j), hn::Load(d, b + j), sum);
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// After kq, e (with v in it), beta and g are filled: the factors of the decay, L and P.
template <class Sizes>
inline void prepare_chunk(const Sizes& s, const Chunk& c) {
  float* q = c.kq + s.C * s.kr;
  float* P = c.lp + s.C * s.cr;
  transpose(s.C, s.Kp, c.kq, s.kr, c.kt, s.cr);
  if (s.error)
    product<Store::kSet, Shape::kLowerC>(s, s.C, s.C, s.K, {c.kq, s.kr, 1}, c.kt, s.cr, c.lp, s.cr);
  product<Store::kSet, Shape::kLowerC>(s, s.C, s.C, s.K, {q, s.kr, 1}, c.kt, s.cr, P, s.cr);
  if (s.decay) {
    prepare_decay(s, c);
    scale_rows(s.C, s.Kp, s.kr, c.from_begin, c.kq, c.kq_begin);
    scale_rows(s.C, s.Kp, s.kr, c.from_begin, q, c.kq_begin + s.C * s.kr);
    scale_rows(s.C, s.Kp, s.kr, c.to_end, c.kq, c.k_end);
  }
  if (s.error) keep_lower(s, c, 0, c.lp);
  keep_lower(s, c, 1, P);
}

// E and U from v (in e) and the state at the chunk's begin.
template <class Sizes>
inline void solve_chunk(const Sizes& s, const Chunk& c, const float* S) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  if (!s.error) {
    scale_rows(s.C, s.Vp, s.vr, c.beta, c.e, c.u);
    return;
  }
  product<Store::kSubtract>(s, s.C, s.Vp, s.K, {c.kq_begin, s.kr, 1}, S, s.vr, c.e, s.vr);
  std::size_t j = 0;
  for (; j + 2 * lanes <= s.Vp; j += 2 * lanes) substitute_forward<2>(s, j, c.lp, c.beta, c.e, c.u);
  for (; j < s.Vp; j += lanes) substitute_forward<1>(s, j, c.lp, c.beta, c.e, c.u);
}

// o[C,V], from the state at the chunk's begin.
template <class Sizes>
inline void output_chunk(const Sizes& s, const Chunk& c, const float* S, float* o) {
  product<Store::kSet>(s, s.C, s.Vp, s.K, {c.kq_begin + s.C * s.kr, s.kr, 1}, S, s.vr, o, s.vr);
  product<Store::kAdd, Shape::kLowerA>(s, s.C, s.Vp, s.C, {c.lp + s.C * s.cr, s.cr, 1}, c.u, s.vr,
                                       o, s.vr);
}

// S becomes the state at the chunk's end.
template <class Sizes>
inline void advance_chunk(const Sizes& s, const Chunk& c, float* S) {
  if (s.decay)
    for (std::size_t i = 0; i < s.K; ++i)
      scale_rows(1, s.Vp, s.vr, c.from_begin + s.C - 1, S + i * s.vr, S + i * s.vr);
  product<Store::kAdd>(s, s.Kp, s.Vp, s.C, {c.k_end, 1, s.kr}, c.u, s.vr, S, s.vr);
}

// What L and P, and so e^{G_i-G_j}, give to the gradient of the sums G, which w.dg collects. Before
// the factors are multiplied into the gradients of L and P.
template <class Sizes>
inline void decay_gradient_within(const Sizes& s, const Chunk& c, const BackwardSpace& w) {
  std::fill_n(w.dg, s.C, 0.0f);
  for (std::size_t i = 0; i < s.C; ++i) {
    float sum = 0;
    for (std::size_t j = 0; j < i; ++j) {
      const std::size_t place = i * s.cr + j;
      float part = w.g[s.C * s.cr + place] * c.lp[s.C * s.cr + place];
      if (s.error) part += w.g[place] * c.lp[place];
      sum += part;
      w.dg[j] -= part;
    }
    w.dg[i] += sum;
  }
}

// dk through the state at the end, and what the states at both ends give to the gradient of the
// sums G. w.st is the transpose of dS; dS is decayed here.
template <class Sizes>
inline void decay_gradient_across(const Sizes& s, const Chunk& c, const BackwardSpace& w,
                                  const float* S, float* dS) {
  const std::size_t C = s.C;
  product<Store::kSet>(s, C, s.Kp, s.V, {c.u, s.vr, 1}, w.st, s.kr, w.t, s.kr);
  scale_rows(C, s.Kp, s.kr, c.to_end, w.t, w.t);
  scale_rows(C, s.Kp, s.kr, c.from_begin, w.dkq + C * s.kr, w.dkq + C * s.kr);
  if (s.error) scale_rows(C, s.Kp, s.kr, c.from_begin, w.dkq, w.dkq);
  float to_end = 0;
  for (std::size_t i = 0; i < C; ++i) {
    const float* k = c.kq + i * s.kr;
    float *dk = w.dkq + i * s.kr, *end = w.t + i * s.kr;
    w.dg[i] += dot(s.Kp, k + C * s.kr, dk + C * s.kr);
    if (s.error) w.dg[i] += dot(s.Kp, k, dk);
    const float part = dot(s.Kp, k, end);
    w.dg[i] -= part;
    to_end += part;
    for (std::size_t j = 0; j < s.Kp; ++j) dk[j] = s.error ? dk[j] + end[j] : end[j];
  }
  float overlap = 0;
  for (std::size_t i = 0; i < s.K; ++i) {
    overlap += dot(s.Vp, S + i * s.vr, dS + i * s.vr);
    scale_rows(1, s.Vp, s.vr, c.from_begin + C - 1, dS + i * s.vr, dS + i * s.vr);
  }
  w.dg[C - 1] += to_end + c.from_begin[C - 1] * overlap;
  // G_i is a sum of g.
  for (std::size_t i = C - 1; i-- > 0;) w.dg[i] += w.dg[i + 1];
}

// From c (as forward left it), S at the chunk's begin, d_o in the second half of w.z and dS at the
// chunk's end: w.dkq [2C,K] (for the scaled q), w.y and w.z with dv = -z (error term) or beta y,
// w.dbeta, w.dg; dS becomes that at the chunk's begin.
template <class Sizes>
inline void chunk_backward(const Sizes& s, const Chunk& c, const BackwardSpace& w, const float* S,
                           float* dS) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d), C = s.C, cr = s.cr;
  const float *L = c.lp, *P = c.lp + C * cr, *k = c.kq, *q = c.kq + C * s.kr;
  float *d_o = w.z + C * s.vr, *GL = w.g, *GP = w.g + C * cr;
  float *dk = w.dkq, *dq = w.dkq + C * s.kr;

  product<Store::kSet, Shape::kUpperA>(s, C, s.Vp, C, {P, 1, cr}, d_o, s.vr, w.y, s.vr);
  product<Store::kAdd>(s, C, s.Vp, s.K, {c.k_end, s.kr, 1}, dS, s.vr, w.y, s.vr);
  if (s.error) {
    std::size_t j = 0;
    for (; j + 2 * lanes <= s.Vp; j += 2 * lanes) substitute_backward<2>(s, j, L, c.beta, w.y, w.z);
    for (; j < s.Vp; j += lanes) substitute_backward<1>(s, j, L, c.beta, w.y, w.z);
  }
  dot_rows(C, s.Vp, s.vr, w.y, c.e, w.dbeta);

  transpose(C, s.Vp, c.u, s.vr, w.ut, cr);
  if (s.error) product<Store::kSet, Shape::kLowerC>(s, C, C, s.V, {w.z, s.vr, 1}, w.ut, cr, GL, cr);
  product<Store::kSet, Shape::kLowerC>(s, C, C, s.V, {d_o, s.vr, 1}, w.ut, cr, GP, cr);
  if (s.decay) decay_gradient_within(s, c, w);
  if (s.error) keep_lower(s, c, 0, GL);
  keep_lower(s, c, 1, GP);

  // Through the states at both ends.
  const std::size_t first = s.error ? 0 : C;
  transpose(s.Kp, s.Vp, S, s.vr, w.st, s.kr);
  product<Store::kSet>(s, 2 * C - first, s.Kp, s.V, {w.z + first * s.vr, s.vr, 1}, w.st, s.kr,
                       w.dkq + first * s.kr, s.kr);
  transpose(s.Kp, s.Vp, dS, s.vr, w.st, s.kr);
  if (s.decay) {
    decay_gradient_across(s, c, w, S, dS);
  } else if (s.error) {
    product<Store::kAdd>(s, C, s.Kp, s.V, {c.u, s.vr, 1}, w.st, s.kr, dk, s.kr);
  } else {
    product<Store::kSet>(s, C, s.Kp, s.V, {c.u, s.vr, 1}, w.st, s.kr, dk, s.kr);
  }
  // Within the chunk.
  product<Store::kAdd, Shape::kLowerA>(s, C, s.Kp, C, {GP, cr, 1}, k, s.kr, dq, s.kr);
  product<Store::kAdd, Shape::kUpperA>(s, C, s.Kp, C, {GP, 1, cr}, q, s.kr, dk, s.kr);
  if (s.error) {
    product<Store::kAdd, Shape::kLowerA>(s, C, s.Kp, C, {GL, cr, 1}, k, s.kr, dk, s.kr);
    product<Store::kAdd, Shape::kUpperA>(s, C, s.Kp, C, {GL, 1, cr}, k, s.kr, dk, s.kr);
  }
  product<Store::kAdd>(s, s.Kp, s.Vp, 2 * C - first, {c.kq_begin + first * s.kr, 1, s.kr},
                       w.z + first * s.vr, s.vr, dS, s.vr);
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#endif
