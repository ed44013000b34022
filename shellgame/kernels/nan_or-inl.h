// What keeps a NaN a NaN on every target. Included once by each target, as small_matrix-inl.h.
#if defined(SHELLGAME_KERNELS_NAN_OR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHELLGAME_KERNELS_NAN_OR_INL_H_
#undef SHELLGAME_KERNELS_NAN_OR_INL_H_
#else
#define SHELLGAME_KERNELS_NAN_OR_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {

// y, but x where x is NaN. Min and Max give either operand there (on x86 the second, on others the
// number), and bits that are added to a NaN's may make it finite: functions of x that do such
// things end with this.
template <class Vector>
HWY_INLINE Vector nan_or(Vector x, Vector y) {
  return hwy::HWY_NAMESPACE::IfThenElse(hwy::HWY_NAMESPACE::IsNaN(x), x, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#endif
