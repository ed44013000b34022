// exp and what follows from it on vectors of floats, for one Highway target. Included once by each
// target, as small_matrix-inl.h.
#if defined(SHELLGAME_KERNELS_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHELLGAME_KERNELS_VECTOR_MATH_INL_H_
#undef SHELLGAME_KERNELS_VECTOR_MATH_INL_H_
#else
#define SHELLGAME_KERNELS_VECTOR_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include "shellgame/kernels/nan_or-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// e^x with a relative error below 2e-7; x is held within [-87.3, 88.3], so that the result is
// neither 0 nor infinite. NaN gives a NaN.
template <class D, class Vector = hn::Vec<D>>
HWY_INLINE Vector fast_exp(D d, Vector given) {
  const hn::RebindToSigned<D> di;
  const Vector x = hn::Max(hn::Min(given, hn::Set(d, 88.3f)), hn::Set(d, -87.3f));
  // x = n ln 2 + r with |r| <= ln 2 / 2; adding 1.5 * 2^23 rounds to a whole number.
  const Vector magic = hn::Set(d, 12582912.0f);
  const Vector shifted = hn::MulAdd(x, hn::Set(d, 1.44269504088896341f), magic);
  const Vector n = hn::Sub(shifted, magic);
  Vector r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  const Vector r2 = hn::Mul(r, r);
  // Minimax on that interval, Estrin's order.
  const Vector p01 = hn::MulAdd(hn::Set(d, 1.6666665459e-1f), r, hn::Set(d, 5.0000001201e-1f));
  const Vector p23 = hn::MulAdd(hn::Set(d, 8.3334519073e-3f), r, hn::Set(d, 4.1665795894e-2f));
  const Vector p45 = hn::MulAdd(hn::Set(d, 1.9875691500e-4f), r, hn::Set(d, 1.3981999507e-3f));
  const Vector r4 = hn::Mul(r2, r2);
  const Vector poly = hn::MulAdd(p45, r4, hn::MulAdd(p23, r2, p01));
  const Vector e = hn::MulAdd(poly, r2, hn::Add(r, hn::Set(d, 1.0f)));
  // 2^n: the low bits of `shifted` are n.
  const auto scale = hn::ShiftLeft<23>(hn::BitCast(di, shifted));
  return nan_or(given, hn::BitCast(d, hn::Add(hn::BitCast(di, e), scale)));
}

template <class D, class Vector = hn::Vec<D>>
HWY_INLINE Vector fast_sigmoid(D d, Vector x) {
  const Vector one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, fast_exp(d, hn::Neg(x))));
}

// 1 + e^-x for a sigmoid: a shorter polynomial and a shorter reduction (relative error of e^-x
// below 2.5e-7), and x held within 43, so that the product of two such values is finite. NaN gives
// a NaN.
template <class D, class Vector = hn::Vec<D>>
HWY_INLINE Vector one_plus_exp_negative(D d, Vector given) {
  const hn::RebindToSigned<D> di;
  const Vector x = hn::Max(hn::Min(given, hn::Set(d, 43.0f)), hn::Set(d, -43.0f));
  const Vector magic = hn::Set(d, 12582912.0f);
  const Vector shifted = hn::NegMulAdd(x, hn::Set(d, 1.44269504088896341f), magic);
  const Vector n = hn::Sub(shifted, magic);
  const Vector r = hn::MulAdd(n, hn::Set(d, 0.693147180559945f), x);  // -x = n ln 2 - r
  const Vector r2 = hn::Mul(r, r);
  const Vector p01 = hn::NegMulAdd(hn::Set(d, 0.16667115f), r, hn::Set(d, 0.4999923f));
  const Vector p23 = hn::NegMulAdd(hn::Set(d, 0.0083125f), r, hn::Set(d, 0.04189033f));
  const Vector poly = hn::MulAdd(p23, r2, p01);
  const Vector one = hn::Set(d, 1.0f);
  const Vector e = hn::MulAdd(poly, r2, hn::Sub(one, r));
  const auto scale = hn::ShiftLeft<23>(hn::BitCast(di, shifted));
  return nan_or(given, hn::Add(one, hn::BitCast(d, hn::Add(hn::BitCast(di, e), scale))));
}

// Two sigmoids with one division, which costs as much as the rest of one. NaN in either lane makes
// both NaN.
template <class D, class Vector = hn::Vec<D>>
HWY_INLINE void fast_sigmoids(D d, Vector x0, Vector x1, Vector& s0, Vector& s1) {
  const Vector e0 = one_plus_exp_negative(d, x0), e1 = one_plus_exp_negative(d, x1);
  const Vector inverse = hn::Div(hn::Set(d, 1.0f), hn::Mul(e0, e1));
  s0 = hn::Mul(inverse, e1);
  s1 = hn::Mul(inverse, e0);
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#endif
