#include "shellgame/kernels/row_tiles.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "shellgame/kernels/row_tiles.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "shellgame/kernels/fast_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
inline constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

// The last values of a row, fewer than a vector: zeros after them.
HWY_INLINE V load_some(const float* from, std::int64_t count) {
  HWY_ALIGN float lanes[kLanes] = {};
  for (std::int64_t i = 0; i < count; ++i) lanes[i] = from[i];
  return hn::Load(D(), lanes);
}
HWY_INLINE void store_some(V value, float* to, std::int64_t count) {
  HWY_ALIGN float lanes[kLanes];
  hn::Store(value, D(), lanes);
  for (std::int64_t i = 0; i < count; ++i) to[i] = lanes[i];
}

// work(load, store, i) for each vector of a row; load and store know how many values there are.
template <class Work>
HWY_INLINE void for_vectors(std::int64_t width, const Work& work) {
  const D d;
  std::int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) {
    work([&](const float* from) HWY_ATTR { return hn::LoadU(d, from + i); },
         [&](V value, float* to) HWY_ATTR { hn::StoreU(value, d, to + i); });
  }
  if (i < width) {
    work([&](const float* from) HWY_ATTR { return load_some(from + i, width - i); },
         [&](V value, float* to) HWY_ATTR { store_some(value, to + i, width - i); });
  }
}

// Two chains hide the latency of the additions.
HWY_INLINE float dot(std::int64_t width, const float* a, const float* b) {
  const D d;
  V even = hn::Zero(d), odd = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 2 * kLanes <= width; i += 2 * kLanes) {
    even = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), even);
    odd = hn::MulAdd(hn::LoadU(d, a + i + kLanes), hn::LoadU(d, b + i + kLanes), odd);
  }
  for (; i + kLanes <= width; i += kLanes)
    even = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), even);
  if (i < width) odd = hn::MulAdd(load_some(a + i, width - i), load_some(b + i, width - i), odd);
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
}

void rstd_tile(std::int64_t rows, std::int64_t width, ConstRows x, float eps, float* rstd) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const float mean = dot(width, x.row(r), x.row(r)) / static_cast<float>(width);
    rstd[r] = 1.0F / std::sqrt(mean + eps);
  }
}

void normalise_tile(std::int64_t rows, std::int64_t width, ConstRows x, const float* weight,
                    const float* rstd, Rows y) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const V scale = hn::Set(D(), rstd[r]);
    for_vectors(width, [&](auto load, auto store) HWY_ATTR {
      const V n = hn::Mul(load(x.row(r)), scale);
      store(weight == nullptr ? n : hn::Mul(n, load(weight)), y.row(r));
    });
  }
}

void norm_backward_tile(std::int64_t rows, std::int64_t width, ConstRows x, const float* rstd,
                        ConstRows g, ConstRows residual, Rows dx) {
  const D d;
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* xr = x.row(r);
    const float* gr = g.row(r);
    const float mean = dot(width, xr, gr) / static_cast<float>(width);
    const V scale = hn::Set(d, rstd[r]), along = hn::Set(d, -rstd[r] * rstd[r] * rstd[r] * mean);
    for_vectors(width, [&](auto load, auto store) HWY_ATTR {
      V value = hn::Mul(load(xr), along);
      value = hn::MulAdd(load(gr), scale, value);
      if (residual.data != nullptr) value = hn::Add(value, load(residual.row(r)));
      store(value, dx.row(r));
    });
  }
}

void swiglu_tile(std::int64_t rows, std::int64_t width, ConstRows gate, ConstRows up, Rows y) {
  const D d;
  for (std::int64_t r = 0; r < rows; ++r) {
    for_vectors(width, [&](auto load, auto store) HWY_ATTR {
      const V g = load(gate.row(r));
      store(hn::Mul(hn::Mul(g, load(up.row(r))), fast::sigmoid(d, g)), y.row(r));
    });
  }
}

void swiglu_backward_tile(std::int64_t rows, std::int64_t width, ConstRows gate, ConstRows up,
                          ConstRows dy, Rows d_gate, Rows d_up, Rows y) {
  const D d;
  const V one = hn::Set(d, 1.0F);
  for (std::int64_t r = 0; r < rows; ++r) {
    for_vectors(width, [&](auto load, auto store) HWY_ATTR {
      const V g = load(gate.row(r)), u = load(up.row(r)), dr = load(dy.row(r));
      const V s = fast::sigmoid(d, g), silu = hn::Mul(g, s);
      if (y.data != nullptr) store(hn::Mul(silu, u), y.row(r));
      // SiLU' = s + silu (1 - s)
      const V slope = hn::MulAdd(silu, hn::Sub(one, s), s);
      store(hn::Mul(hn::Mul(dr, u), slope), d_gate.row(r));
      store(hn::Mul(dr, silu), d_up.row(r));
    });
  }
}

void add_products_tile(std::int64_t rows, std::int64_t width, ConstRows a, ConstRows b,
                       const float* scale, float* sum) {
  const D d;
  for (std::int64_t r = 0; r < rows; ++r) {
    const V factor = hn::Set(d, scale[r]);
    for_vectors(width, [&](auto load, auto store) HWY_ATTR {
      store(hn::MulAdd(hn::Mul(load(a.row(r)), factor), load(b.row(r)), load(sum)), sum);
    });
  }
}

float row_max(std::int64_t width, const float* row) {
  const D d;
  V largest = hn::Set(d, row[0]);
  std::int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) largest = hn::Max(largest, hn::LoadU(d, row + i));
  float result = hn::GetLane(hn::MaxOfLanes(d, largest));
  for (; i < width; ++i) result = std::max(result, row[i]);
  return result;
}

// Lanes beyond the width get e^-inf.
template <bool kStore>
HWY_INLINE float exponentials(std::int64_t width, float shift, const float* row, float* to) {
  const D d;
  const V minus = hn::Set(d, shift);
  V sum = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) {
    const V e = fast::exp(d, hn::Sub(hn::LoadU(d, row + i), minus));
    sum = hn::Add(sum, e);
    if (kStore) hn::StoreU(e, d, to + i);
  }
  if (i < width) {
    HWY_ALIGN float lanes[kLanes];
    hn::Store(hn::Set(d, -1e30F), d, lanes);
    for (std::int64_t j = i; j < width; ++j) lanes[j - i] = row[j] - shift;
    const V e = fast::exp(d, hn::Load(d, lanes));
    sum = hn::Add(sum, e);
    if (kStore) store_some(e, to + i, width - i);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

float exp_sum(std::int64_t width, float shift, const float* row) {
  return exponentials<false>(width, shift, row, nullptr);
}

float exp_row(std::int64_t width, float shift, float* row) {
  return exponentials<true>(width, shift, row, row);
}

void scale_row(std::int64_t width, float factor, float* row) {
  const V by = hn::Set(D(), factor);
  for_vectors(width, [&](auto load, auto store) HWY_ATTR { store(hn::Mul(by, load(row)), row); });
}

void softmax_row(std::int64_t width, float shift, float factor, float* row) {
  const D d;
  const V by = hn::Set(d, factor), minus = hn::Set(d, shift);
  for_vectors(width, [&](auto load, auto store) HWY_ATTR {
    store(hn::Mul(by, fast::exp(d, hn::Sub(load(row), minus))), row);
  });
}

void rotate_row(std::int64_t half, const float* x, const float* cosines, const float* sines,
                float sign, float* y) {
  const V by = hn::Set(D(), sign);
  for_vectors(half, [&](auto load, auto store) HWY_ATTR {
    const V c = load(cosines), s = hn::Mul(load(sines), by), a = load(x), b = load(x + half);
    store(hn::NegMulAdd(b, s, hn::Mul(a, c)), y);
    store(hn::MulAdd(a, s, hn::Mul(b, c)), y + half);
  });
}

void sum_rows(std::int64_t count, std::int64_t width, const std::int64_t* which, ConstRows x,
              float* to) {
  for_vectors(width, [&](auto load, auto store) HWY_ATTR {
    V sum = load(x.row(which[0]));
    for (std::int64_t i = 1; i < count; ++i) sum = hn::Add(sum, load(x.row(which[i])));
    store(sum, to);
  });
}

void sum_parts(std::int64_t size, std::int64_t parts, std::int64_t stride, const float* from,
               float* to) {
  for_vectors(size, [&](auto load, auto store) HWY_ATTR {
    V sum = load(from);
    for (std::int64_t p = 1; p < parts; ++p) sum = hn::Add(sum, load(from + p * stride));
    store(sum, to);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shellgame {

HWY_EXPORT(rstd_tile);
HWY_EXPORT(normalise_tile);
HWY_EXPORT(norm_backward_tile);
HWY_EXPORT(swiglu_tile);
HWY_EXPORT(swiglu_backward_tile);
HWY_EXPORT(add_products_tile);
HWY_EXPORT(row_max);
HWY_EXPORT(exp_sum);
HWY_EXPORT(exp_row);
HWY_EXPORT(scale_row);
HWY_EXPORT(softmax_row);
HWY_EXPORT(rotate_row);
HWY_EXPORT(sum_rows);
HWY_EXPORT(sum_parts);

void rstd_tile(std::int64_t rows, std::int64_t width, ConstRows x, float eps, float* rstd) {
  HWY_DYNAMIC_DISPATCH(rstd_tile)(rows, width, x, eps, rstd);
}
void normalise_tile(std::int64_t rows, std::int64_t width, ConstRows x, const float* weight,
                    const float* rstd, Rows y) {
  HWY_DYNAMIC_DISPATCH(normalise_tile)(rows, width, x, weight, rstd, y);
}
void norm_backward_tile(std::int64_t rows, std::int64_t width, ConstRows x, const float* rstd,
                        ConstRows g, ConstRows residual, Rows dx) {
  HWY_DYNAMIC_DISPATCH(norm_backward_tile)(rows, width, x, rstd, g, residual, dx);
}
void swiglu_tile(std::int64_t rows, std::int64_t width, ConstRows gate, ConstRows up, Rows y) {
  HWY_DYNAMIC_DISPATCH(swiglu_tile)(rows, width, gate, up, y);
}
void swiglu_backward_tile(std::int64_t rows, std::int64_t width, ConstRows gate, ConstRows up,
                          ConstRows dy, Rows d_gate, Rows d_up, Rows y) {
  HWY_DYNAMIC_DISPATCH(swiglu_backward_tile)(rows, width, gate, up, dy, d_gate, d_up, y);
}
void add_products_tile(std::int64_t rows, std::int64_t width, ConstRows a, ConstRows b,
                       const float* scale, float* sum) {
  HWY_DYNAMIC_DISPATCH(add_products_tile)(rows, width, a, b, scale, sum);
}
float row_max(std::int64_t width, const float* row) {
  return HWY_DYNAMIC_DISPATCH(row_max)(width, row);
}
float exp_sum(std::int64_t width, float shift, const float* row) {
  return HWY_DYNAMIC_DISPATCH(exp_sum)(width, shift, row);
}
float exp_row(std::int64_t width, float shift, float* row) {
  return HWY_DYNAMIC_DISPATCH(exp_row)(width, shift, row);
}
void scale_row(std::int64_t width, float factor, float* row) {
  HWY_DYNAMIC_DISPATCH(scale_row)(width, factor, row);
}
void softmax_row(std::int64_t width, float shift, float factor, float* row) {
  HWY_DYNAMIC_DISPATCH(softmax_row)(width, shift, factor, row);
}
void rotate_row(std::int64_t half, const float* x, const float* cosines, const float* sines,
                float sign, float* y) {
  HWY_DYNAMIC_DISPATCH(rotate_row)(half, x, cosines, sines, sign, y);
}
void sum_rows(std::int64_t count, std::int64_t width, const std::int64_t* which, ConstRows x,
              float* to) {
  HWY_DYNAMIC_DISPATCH(sum_rows)(count, width, which, x, to);
}
void sum_parts(std::int64_t size, std::int64_t parts, std::int64_t stride, const float* from,
               float* to) {
  HWY_DYNAMIC_DISPATCH(sum_parts)(size, parts, stride, from, to);
}

}  // namespace shellgame
#endif  // HWY_ONCE
