// exp, sigmoid and tanh of vectors, relative error below 3e-7; NaN gives a NaN. Included once for
// each target.

#if defined(SHELLGAME_KERNELS_FAST_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHELLGAME_KERNELS_FAST_MATH_INL_H_
#undef SHELLGAME_KERNELS_FAST_MATH_INL_H_
#else
#define SHELLGAME_KERNELS_FAST_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include "shellgame/kernels/nan_or-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {
namespace fast {
namespace hn = hwy::HWY_NAMESPACE;

// x = n log 2 + r with |r| <= log(2) / 2; gives e^r - 1 (Taylor to r^7: 5e-9) and 2^n, n in -126 ..
// 127.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V expm1_parts(D d, V x, V& power) {
  const hn::RebindToSigned<D> di;
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504F)));
  // log 2 in two parts: the first has few bits, so that n times it is exact.
  const V high = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), x);
  const V r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), high);
  V p = hn::Set(d, 1.0F / 5040);
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F / 720));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F / 120));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F / 24));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F / 6));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5F));
  power = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127))));
  return hn::MulAdd(hn::Mul(r, r), p, r);
}

// 0 below -87.3; stays finite (2.4e38) above 88.3.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp(D d, V x) {
  const V lowest = hn::Set(d, -87.3F);
  V power;
  const V part = expm1_parts(d, hn::Min(hn::Max(x, lowest), hn::Set(d, 88.3F)), power);
  return nan_or(x, hn::IfThenZeroElse(hn::Lt(x, lowest), hn::MulAdd(power, part, power)));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0F);
  const V bounded = hn::Min(hn::Max(hn::Neg(x), hn::Set(d, -87.3F)), hn::Set(d, 88.3F));
  V power;
  const V part = expm1_parts(d, bounded, power);
  return nan_or(x, hn::Div(one, hn::Add(one, hn::MulAdd(power, part, power))));
}

// tanh |x| = e / (e + 2) with e = exp(2 |x|) - 1, which keeps its digits near 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh(D d, V x) {
  const V size = hn::Min(hn::Abs(x), hn::Set(d, 10.0F));
  V power;
  const V part = expm1_parts(d, hn::Add(size, size), power);
  const V e = hn::MulAdd(power, part, hn::Sub(power, hn::Set(d, 1.0F)));
  return nan_or(x, hn::CopySign(hn::Div(e, hn::Add(e, hn::Set(d, 2.0F))), x));
}

}  // namespace fast
}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#endif
