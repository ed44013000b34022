#include "shellgame/kernels/few_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "shellgame/kernels/few_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstddef>

#include "shellgame/kernels/conv_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {

// Four rows of a weight by one row: four chains of additions run side by side.
HWY_INLINE void dot_four(std::size_t in, const float* x, const float* const* w, float* sums) {
  const FloatTag d;
  FloatVector s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= in; i += hn::Lanes(d)) {
    const FloatVector v = hn::Load(d, x + i);
    s0 = hn::MulAdd(v, hn::LoadU(d, w[0] + i), s0);
    s1 = hn::MulAdd(v, hn::LoadU(d, w[1] + i), s1);
    s2 = hn::MulAdd(v, hn::LoadU(d, w[2] + i), s2);
    s3 = hn::MulAdd(v, hn::LoadU(d, w[3] + i), s3);
  }
  if (i < in) {
    const FloatVector v = hn::Load(d, x + i);  // zeros beyond the end
    s0 = hn::MulAdd(v, load_part(w[0] + i, in - i), s0);
    s1 = hn::MulAdd(v, load_part(w[1] + i, in - i), s1);
    s2 = hn::MulAdd(v, load_part(w[2] + i, in - i), s2);
    s3 = hn::MulAdd(v, load_part(w[3] + i, in - i), s3);
  }
  sums[0] = hn::GetLane(hn::SumOfLanes(d, s0));
  sums[1] = hn::GetLane(hn::SumOfLanes(d, s1));
  sums[2] = hn::GetLane(hn::SumOfLanes(d, s2));
  sums[3] = hn::GetLane(hn::SumOfLanes(d, s3));
}

// Columns [begin, end) of y, which belong to rows of one weight; x [rows, stride] is scaled.
void FewRowsColumns(const FewRowsProduct& p, const float* x, std::int64_t stride,
                    const Weight& weight, std::int64_t first, std::int64_t begin,
                    std::int64_t end) {
  const auto in = static_cast<std::size_t>(p.in);
  for (std::int64_t o = begin; o < end; o += 4) {
    const std::int64_t count = end - o < 4 ? end - o : 4;
    const float* w[4];
    // Missing rows repeat the last one.
    for (std::int64_t i = 0; i < 4; ++i)
      w[i] = weight.data + (o + (i < count ? i : count - 1)) * p.in;
    for (std::int64_t r = 0; r < p.rows; ++r) {
      float sums[4];
      dot_four(in, x + r * stride, w, sums);
      const float factor = p.row_scale == nullptr ? 1.0F : p.row_scale[r];
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t column = first + o + i;
        const float base = p.base.data == nullptr ? 0.0F : p.base.row(r)[column];
        p.y.row(r)[column] = base + factor * sums[i];
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <vector>

#include "shellgame/kernels/scratch.h"
#include "shellgame/kernels/share_work.h"

namespace shellgame {

HWY_EXPORT(FewRowsColumns);

void few_rows_product(const FewRowsProduct& product) {
  // Rows with zeros up to a whole number of the widest vectors.
  constexpr std::int64_t kWidest = 16;  // HWY_MAX_BYTES here is that of the narrowest target
  const std::int64_t in = product.in, stride = (in + kWidest - 1) / kWidest * kWidest;
  Scratch scaled(product.rows * stride);
  for (std::int64_t r = 0; r < product.rows; ++r) {
    float* const to = scaled.data() + r * stride;
    const float* const from = product.x.row(r);
    for (std::int64_t i = 0; i < in; ++i)
      to[i] = product.scale == nullptr ? from[i] : from[i] * product.scale[i];
    std::fill(to + in, to + stride, 0.0F);
  }
  struct Item {
    const Weight* weight;
    std::int64_t first, begin, end;
  };
  constexpr std::int64_t kColumns = 128;
  std::vector<Item> items;
  std::int64_t first = 0;
  for (const Weight& weight : product.weights) {
    for (std::int64_t o = 0; o < weight.out; o += kColumns)
      items.push_back({&weight, first, o, std::min(weight.out, o + kColumns)});
    first += weight.out;
  }
  const auto work = static_cast<double>(product.rows * in * first);
  share_work(items.size(), work, [&](std::size_t i) {
    const Item& item = items[i];
    HWY_DYNAMIC_DISPATCH(FewRowsColumns)
    (product, scaled.data(), stride, *item.weight, item.first, item.begin, item.end);
  });
}

}  // namespace shellgame
#endif
