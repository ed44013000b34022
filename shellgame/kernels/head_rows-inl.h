// Rows of one head between a RowView and working space, for one Highway target. Included once by
// each target, as small_matrix-inl.h.
#if defined(SHELLGAME_KERNELS_HEAD_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHELLGAME_KERNELS_HEAD_ROWS_INL_H_
#undef SHELLGAME_KERNELS_HEAD_ROWS_INL_H_
#else
#define SHELLGAME_KERNELS_HEAD_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "shellgame/kernels/row_view.h"
#include "shellgame/kernels/small_matrix-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {

// Asks for `count` rows of one head before they are needed: rows of other heads lie between them,
// so that the machine's own prefetching does not see what comes next.
template <bool kWrite, class Real>
HWY_INLINE void prefetch_rows(const RowView<Real>& view, std::size_t first, std::size_t head,
                              std::size_t width, std::size_t count) {
  if (!view) return;
  constexpr std::size_t kLine = 64 / sizeof(float);
  for (std::size_t i = 0; i < count; ++i) {
    const float* row = view.row(first + i) + head * width;
    for (std::size_t j = 0; j < width; j += kLine) __builtin_prefetch(row + j, kWrite ? 1 : 0);
    __builtin_prefetch(row + width - 1, kWrite ? 1 : 0);
  }
}

// to[0..width) = factor * from[0..width), at any places.
HWY_INLINE void copy_row(std::size_t width, float factor, const float* HWY_RESTRICT from,
                         float* HWY_RESTRICT to) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const FloatVector factors = hn::Set(d, factor);
  std::size_t j = 0;
  for (; j + lanes <= width; j += lanes)
    hn::StoreU(hn::Mul(factors, hn::LoadU(d, from + j)), d, to + j);
  for (; j < width; ++j) to[j] = factor * from[j];
}

// Rows of one head, `width` values each, from row `first` on; rows from `count` to C become zero.
inline void load_rows(const RowView<const float>& view, std::size_t first, std::size_t head,
                      std::size_t width, std::size_t count, std::size_t C, float factor, float* to,
                      std::size_t distance) {
  for (std::size_t i = 0; i < count; ++i)
    copy_row(width, factor, view.row(first + i) + head * width, to + i * distance);
  for (std::size_t i = count; i < C; ++i) std::fill_n(to + i * distance, width, 0.0f);
}

inline void store_rows(const float* from, std::size_t distance, float factor, std::size_t width,
                       std::size_t count, const RowView<float>& view, std::size_t first,
                       std::size_t head) {
  if (!view) return;
  for (std::size_t i = 0; i < count; ++i)
    copy_row(width, factor, from + i * distance, view.row(first + i) + head * width);
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#endif
