// A step of a non-linear cell over a head's width: whole vectors, then the rest one by one. A
// `Step` has forward(d, s, e) and backward(d, s, e) for the lanes from e on.
#if defined(SHELLGAME_KERNELS_CELL_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHELLGAME_KERNELS_CELL_LANES_INL_H_
#undef SHELLGAME_KERNELS_CELL_LANES_INL_H_
#else
#define SHELLGAME_KERNELS_CELL_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include "shellgame/kernels/cell_runner.h"

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {

template <class Lanes>
HWY_INLINE void for_each_lane(std::int64_t width, const Lanes& lanes_from) {
  const hwy::HWY_NAMESPACE::CappedTag<float, 16> d;
  const auto lanes = static_cast<std::int64_t>(hwy::HWY_NAMESPACE::Lanes(d));
  std::int64_t e = 0;
  for (; e + lanes <= width; e += lanes) lanes_from(d, e);
  for (; e < width; ++e) lanes_from(hwy::HWY_NAMESPACE::CappedTag<float, 1>(), e);
}

template <class Step>
HWY_INLINE void step_forward(const CellForward& s) {
  for_each_lane(s.width, [&](auto d, std::int64_t e) HWY_ATTR { Step::forward(d, s, e); });
}
template <class Step>
HWY_INLINE void step_backward(const CellBackward& s) {
  for_each_lane(s.width, [&](auto d, std::int64_t e) HWY_ATTR { Step::backward(d, s, e); });
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#endif  // per target
