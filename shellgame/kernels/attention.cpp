#include "shellgame/kernels/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "shellgame/kernels/attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "shellgame/kernels/nan_or-inl.h"
#include "shellgame/kernels/scratch.h"
#include "shellgame/kernels/small_matrix-inl.h"

namespace shellgame {
#ifndef SHELLGAME_KERNELS_ATTENTION_ONCE
#define SHELLGAME_KERNELS_ATTENTION_ONCE
namespace {

// Measured beside 48 and 96 queries and 128 keys: equal for long sequences, best for short ones.
inline constexpr std::size_t kKeyBlock = 64, kQueryBlock = 24;
// Rows of a tile of scores fall into different sets of the first cache.
inline constexpr std::size_t kTileRow = kKeyBlock + 16;
// Queries of one item of the forward pass: enough to pay for the keys' transposes, few enough to
// stay in the second cache and to occupy all threads with one long sequence.
inline constexpr std::size_t kSlice = 480;

inline std::size_t whole(std::size_t size, std::size_t unit) {
  return (size + unit - 1) / unit * unit;
}
// Floats between rows in working space: aligned, and not all in the same sets of a cache.
inline std::size_t row_distance(std::size_t width) {
  const std::size_t padded = whole(width, 16);
  return padded % 64 == 0 ? padded + 16 : padded;
}

// Parts of one working space that a thread keeps for its next items.
class AttentionSpace {
 public:
  void set(std::size_t size) {
    if (space_.size() < static_cast<std::int64_t>(size))
      space_ = Scratch(static_cast<std::int64_t>(size));
    used_ = 0;
  }
  float* part(std::size_t size) {
    float* const at = space_.data() + used_;
    used_ += whole(size, 16);
    return at;
  }

 private:
  Scratch space_;
  std::size_t used_ = 0;
};

}  // namespace
#endif
}  // namespace shellgame

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Columns and widths are whole vectors, and at least 4 for transposes.
inline std::size_t unit() { return std::max<std::size_t>(4, hn::Lanes(FloatTag())); }

// e^x for x <= 0, relative error 1e-7 + |x| 6e-8; 0 below 2^-100, so that products with it are not
// denormal. NaN stays NaN.
HWY_INLINE FloatVector exp_below(FloatVector x) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  // Added to 1.5 * 2^23, t is rounded to a whole number, which then stands in the lowest bits.
  const FloatVector magic = hn::Set(d, 12582912.0F), t = hn::Mul(x, hn::Set(d, 1.44269504F));
  const FloatVector shifted = hn::Add(t, magic), r = hn::Sub(t, hn::Sub(shifted, magic));
  // 2^r for |r| <= 1/2, relative error 2e-9 before rounding (a minimax fit with p(0) = 1).
  FloatVector p = hn::Set(d, 1.534581242594868e-4F);
  p = hn::MulAdd(p, r, hn::Set(d, 1.339993090368807e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 9.618489071726799e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 5.550328642129898e-2F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.2402264624834061F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.6931471824645996F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F));
  const auto power = hn::ShiftLeft<23>(hn::BitCast(di, shifted));
  const FloatVector y = hn::BitCast(d, hn::Add(hn::BitCast(di, p), power));
  return nan_or(x, hn::IfThenZeroElse(hn::Lt(t, hn::Set(d, -100.0F)), y));
}

// to [rows.., distance] = factor * `count` rows of one head; zeros to the width's end in whole
// vectors, and in rows up to `rows`, so that nothing is read that was never set.
inline void gather(const RowView<const float>& view, std::size_t first, std::size_t head,
                   std::size_t width, std::size_t count, std::size_t rows, float factor, float* to,
                   std::size_t distance) {
  const std::size_t padded = whole(width, unit());
  for (std::size_t i = 0; i < count; ++i) {
    const float* HWY_RESTRICT from = view.row(first + i) + head * width;
    float* HWY_RESTRICT target = to + i * distance;
    for (std::size_t j = 0; j < width; ++j) target[j] = factor * from[j];
    for (std::size_t j = width; j < padded; ++j) target[j] = 0;
  }
  for (std::size_t i = count; i < rows; ++i) std::fill_n(to + i * distance, padded, 0.0F);
}

inline void scatter(const float* from, std::size_t distance, float factor, std::size_t width,
                    std::size_t count, const RowView<float>& view, std::size_t first,
                    std::size_t head) {
  for (std::size_t i = 0; i < count; ++i) {
    const float* HWY_RESTRICT source = from + i * distance;
    float* HWY_RESTRICT target = view.row(first + i) + head * width;
    for (std::size_t j = 0; j < width; ++j) target[j] = factor * source[j];
  }
}

HWY_INLINE float dot(std::size_t width, const float* a, const float* b) {
  const FloatTag d;
  FloatVector sums = hn::Zero(d);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= width; i += hn::Lanes(d))
    sums = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), sums);
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < width; ++i) sum += a[i] * b[i];
  return sum;
}

// A block of queries against a block of keys: who sees whom.
struct Tile {
  std::size_t rows, seen;  // queries; keys that the last of them sees, or all of the block
  std::size_t columns;     // `seen` in whole vectors
  std::size_t place;       // the first query's last key, counted from the block's first
  std::size_t window;
  bool masked;

  Tile(const AttentionSizes& s, std::size_t query, std::size_t count, std::size_t key,
       std::size_t keys)
      : rows(count),
        seen(std::min(keys, s.last_key(query + count - 1) + 1 - key)),
        columns(whole(seen, unit())),
        place(s.last_key(query) - key),
        window(s.window),
        masked(seen != columns || place + 1 < seen || begin(count - 1) > 0) {}
  // The columns [begin, end) that a row sees.
  std::size_t begin(std::size_t row) const {
    return window == 0 || place + row < window ? 0 : place + row + 1 - window;
  }
  std::size_t end(std::size_t row) const { return std::min(seen, place + row + 1); }
};

// The queries in [from, to) that see at least one of the keys [key, key + keys).
struct Seers {
  std::size_t from, to;

  Seers(const AttentionSizes& s, std::size_t begin, std::size_t end, std::size_t key,
        std::size_t keys)
      : from(std::max(begin, key > s.past() ? key - s.past() : 0)), to(end) {
    if (s.window == 0) return;
    const std::size_t last = key + keys + s.window - 1;  // place behind the last that sees them
    to = last > s.past() ? std::min(end, last - s.past()) : 0;
  }
};

// Calls work(j, valid) for each vector of a row; `valid` says which of its columns the row sees.
template <bool kMasked, class Work>
HWY_INLINE void over_row(const Tile& tile, std::size_t row, const Work& work) {
  const FloatTag d;
  const auto begin = hn::Set(d, static_cast<float>(tile.begin(row)));
  const auto end = hn::Set(d, static_cast<float>(tile.end(row)));
  for (std::size_t j = 0; j < tile.columns; j += hn::Lanes(d)) {
    if constexpr (kMasked) {
      const auto column = hn::Iota(d, static_cast<float>(j));
      work(j, hn::And(hn::Ge(column, begin), hn::Lt(column, end)));
    } else {
      work(j, hn::Mask<FloatTag>());
    }
  }
}

// Scores -> e^{score - greatest so far}; what was summed before is brought to the new greatest.
// sums: one vector for each row. out [rows, width].
template <bool kMasked>
HWY_NOINLINE void weigh(const Tile& tile, float* scores, float* greatest, float* sums, float* out,
                        std::size_t width, std::size_t distance) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const FloatVector lowest = hn::Set(d, std::numeric_limits<float>::lowest());
  for (std::size_t i = 0; i < tile.rows; ++i) {
    float* HWY_RESTRICT row = scores + i * kTileRow;
    FloatVector high = lowest;
    over_row<kMasked>(tile, i, [&](std::size_t j, auto valid) HWY_ATTR {
      const FloatVector x = hn::Load(d, row + j);
      high = hn::Max(high, kMasked ? hn::IfThenElse(valid, x, lowest) : x);
    });
    const float top = std::max(greatest[i], hn::GetLane(hn::MaxOfLanes(d, high)));
    FloatVector sum = hn::Load(d, sums + i * lanes);
    if (top > greatest[i]) {
      const FloatVector factor = exp_below(hn::Set(d, greatest[i] - top));
      sum = hn::Mul(sum, factor);
      for (std::size_t j = 0; j < width; j += lanes)
        hn::Store(hn::Mul(hn::Load(d, out + i * distance + j), factor), d, out + i * distance + j);
      greatest[i] = top;
    }
    const FloatVector shift = hn::Set(d, top);
    over_row<kMasked>(tile, i, [&](std::size_t j, auto valid) HWY_ATTR {
      FloatVector y = exp_below(hn::Sub(hn::Load(d, row + j), shift));
      if constexpr (kMasked) y = hn::IfThenElseZero(valid, y);
      hn::Store(y, d, row + j);
      sum = hn::Add(sum, y);
    });
    hn::Store(sum, d, sums + i * lanes);
  }
}

// One head's queries [slice * kSlice, ...).
void AttentionForwardItem(const AttentionSizes& s, const AttentionInput<float>& in,
                          const RowView<float>& o, float* saved, std::size_t b, std::size_t h,
                          std::size_t slice) {
  thread_local AttentionSpace space;
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d), kr = row_distance(s.K), vr = row_distance(s.V);
  const std::size_t first = slice * kSlice, count = std::min(kSlice, s.T - first);
  const std::size_t depth = whole(s.K, 4), width = whole(s.V, unit()), g = h / (s.H / s.G);
  space.set(count * (kr + vr + lanes + 1) + kKeyBlock * (kr + vr) +
            (depth + kQueryBlock) * kTileRow + 64);
  float *q = space.part(count * kr), *out = space.part(count * vr);
  float *sums = space.part(count * lanes), *greatest = space.part(count);
  float *k = space.part(kKeyBlock * kr), *v = space.part(kKeyBlock * vr);
  float *kt = space.part(depth * kTileRow), *scores = space.part(kQueryBlock * kTileRow);
  gather(in.q, b * s.T + first, h, s.K, count, count, in.scale, q, kr);
  std::fill_n(out, count * vr, 0.0F);
  std::fill_n(sums, count * lanes, 0.0F);
  std::fill_n(greatest, count, std::numeric_limits<float>::lowest());
  const std::size_t end = s.last_key(first + count - 1) + 1;
  for (std::size_t key = s.first_key(first); key < end; key += kKeyBlock) {
    const std::size_t keys = std::min(kKeyBlock, end - key), rows = whole(keys, unit());
    gather(in.k, b * s.S + key, g, s.K, keys, rows, 1, k, kr);
    gather(in.v, b * s.S + key, g, s.V, keys, rows, 1, v, vr);
    transpose(rows, depth, k, kr, kt, kTileRow);
    const Seers seers(s, first, first + count, key, keys);
    for (std::size_t query = seers.from; query < seers.to; query += kQueryBlock) {
      const Tile tile(s, query, std::min(kQueryBlock, seers.to - query), key, keys);
      const std::size_t at = query - first;
      multiply<Store::kSet>(tile.rows, tile.columns, s.K, {q + at * kr, kr, 1}, kt, kTileRow,
                            scores, kTileRow);
      (tile.masked ? weigh<true> : weigh<false>)(tile, scores, greatest + at, sums + at * lanes,
                                                 out + at * vr, width, vr);
      multiply<Store::kAdd>(tile.rows, width, tile.seen, {scores, kTileRow, 1}, v, vr,
                            out + at * vr, vr);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const float inverse = 1 / hn::GetLane(hn::SumOfLanes(d, hn::Load(d, sums + i * lanes)));
    scatter(out + i * vr, vr, inverse, s.V, 1, o, b * s.T + first + i, h);
    if (saved == nullptr) continue;
    float* const place = saved + 2 * ((b * s.H + h) * s.T + first + i);
    place[0] = greatest[i];
    place[1] = inverse;
  }
}

// Scores -> w = e^{score - greatest}; dw -> w (dw - mean).
template <bool kMasked>
HWY_NOINLINE void weigh_backward(const Tile& tile, float* scores, float* d_weights,
                                 const float* greatest, const float* mean) {
  const FloatTag d;
  for (std::size_t i = 0; i < tile.rows; ++i) {
    float *HWY_RESTRICT row = scores + i * kTileRow, *HWY_RESTRICT d_row = d_weights + i * kTileRow;
    const FloatVector shift = hn::Set(d, greatest[i]), middle = hn::Set(d, mean[i]);
    over_row<kMasked>(tile, i, [&](std::size_t j, auto valid) HWY_ATTR {
      FloatVector y = exp_below(hn::Sub(hn::Load(d, row + j), shift));
      FloatVector dy = hn::Mul(y, hn::Sub(hn::Load(d, d_row + j), middle));
      if constexpr (kMasked) {
        y = hn::IfThenElseZero(valid, y);
        dy = hn::IfThenElseZero(valid, dy);
      }
      hn::Store(y, d, row + j);
      hn::Store(dy, d, d_row + j);
    });
  }
}

// A group of keys with all its heads. With do and its mean o . do divided by the row's sum, weights
// need not be.
void AttentionBackwardItem(const AttentionSizes& s, const AttentionInput<float>& in,
                           const RowView<const float>& o, const float* saved,
                           const AttentionGradients<float>& out, std::size_t b, std::size_t g) {
  thread_local AttentionSpace space;
  const std::size_t kr = row_distance(s.K), vr = row_distance(s.V), heads = s.H / s.G;
  const std::size_t key_depth = whole(s.K, 4), value_depth = whole(s.V, 4);
  const std::size_t key_width = whole(s.K, unit()), value_width = whole(s.V, unit());
  const std::size_t key_rows = whole(s.S, kKeyBlock) + kKeyBlock;
  space.set(s.T * (2 * kr + vr + 2) + (key_rows + kKeyBlock) * (kr + vr) +
            (key_depth + value_depth + 2 * kQueryBlock) * kTileRow + 32);
  float *q = space.part(s.T * kr), *dq = space.part(s.T * kr), *d_o = space.part(s.T * vr);
  float *greatest = space.part(s.T), *mean = space.part(s.T);
  float *dk = space.part(key_rows * kr), *dv = space.part(key_rows * vr);
  float *k = space.part(kKeyBlock * kr), *v = space.part(kKeyBlock * vr);
  float *kt = space.part(key_depth * kTileRow), *vt = space.part(value_depth * kTileRow);
  float *scores = space.part(kQueryBlock * kTileRow), *ds = space.part(kQueryBlock * kTileRow);
  std::fill_n(dk, key_rows * kr, 0.0F);
  std::fill_n(dv, key_rows * vr, 0.0F);
  for (std::size_t h = g * heads; h < (g + 1) * heads; ++h) {
    gather(in.q, b * s.T, h, s.K, s.T, s.T, in.scale, q, kr);
    std::fill_n(dq, s.T * kr, 0.0F);
    for (std::size_t t = 0; t < s.T; ++t) {
      const float* const place = saved + 2 * ((b * s.H + h) * s.T + t);
      greatest[t] = place[0];
      gather(out.d_o, b * s.T + t, h, s.V, 1, 1, place[1], d_o + t * vr, vr);
      mean[t] = dot(s.V, d_o + t * vr, o.row(b * s.T + t) + h * s.V);
    }
    for (std::size_t key = s.first_key(0); key < s.S; key += kKeyBlock) {
      const std::size_t keys = std::min(kKeyBlock, s.S - key), rows = whole(keys, unit());
      gather(in.k, b * s.S + key, g, s.K, keys, rows, 1, k, kr);
      gather(in.v, b * s.S + key, g, s.V, keys, rows, 1, v, vr);
      transpose(rows, key_depth, k, kr, kt, kTileRow);
      transpose(rows, value_depth, v, vr, vt, kTileRow);
      const Seers seers(s, 0, s.T, key, keys);
      for (std::size_t query = seers.from; query < seers.to; query += kQueryBlock) {
        const Tile tile(s, query, std::min(kQueryBlock, seers.to - query), key, keys);
        const float *q_rows = q + query * kr, *do_rows = d_o + query * vr;
        multiply<Store::kSet>(tile.rows, tile.columns, s.K, {q_rows, kr, 1}, kt, kTileRow, scores,
                              kTileRow);
        multiply<Store::kSet>(tile.rows, tile.columns, s.V, {do_rows, vr, 1}, vt, kTileRow, ds,
                              kTileRow);
        (tile.masked ? weigh_backward<true>
                     : weigh_backward<false>)(tile, scores, ds, greatest + query, mean + query);
        multiply<Store::kAdd>(tile.columns, value_width, tile.rows, {scores, 1, kTileRow}, do_rows,
                              vr, dv + key * vr, vr);
        multiply<Store::kAdd>(tile.columns, key_width, tile.rows, {ds, 1, kTileRow}, q_rows, kr,
                              dk + key * kr, kr);
        multiply<Store::kAdd>(tile.rows, key_width, tile.seen, {ds, kTileRow, 1}, k, kr,
                              dq + query * kr, kr);
      }
    }
    scatter(dq, kr, in.scale, s.K, s.T, out.dq, b * s.T, h);
  }
  scatter(dk, kr, 1, s.K, s.S, out.dk, b * s.S, g);
  scatter(dv, vr, 1, s.V, s.S, out.dv, b * s.S, g);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "shellgame/kernels/share_work.h"
#include "shellgame/text/error.h"

namespace shellgame {

HWY_EXPORT(AttentionForwardItem);
HWY_EXPORT(AttentionBackwardItem);

namespace {

void check(const AttentionSizes& s, const AttentionInput<float>& in) {
  if (s.B == 0 || s.T == 0 || s.H == 0 || s.G == 0 || s.K == 0 || s.V == 0)
    wrong_use("Attention must have sizes of at least 1, not B={} T={} H={} G={} K={} V={}.", s.B,
              s.T, s.H, s.G, s.K, s.V);
  if (s.S < s.T) wrong_use("Attention must have at least T={} keys, not S={}.", s.T, s.S);
  if (s.H % s.G != 0)
    wrong_use("Attention's heads H={} must be a multiple of its key groups G={}.", s.H, s.G);
  if (!in.q || !in.k || !in.v) wrong_use("Attention must be given q, k and v.");
}

}  // namespace

void attention_forward(const AttentionSizes& sizes, const AttentionInput<float>& input,
                       const RowView<float>& o, float* saved) {
  check(sizes, input);
  if (!o) wrong_use("Attention's forward must be given a place for o.");
  const std::size_t slices = (sizes.T + kSlice - 1) / kSlice, each = sizes.B * sizes.H;
  // Late slices see the most keys: they begin first, so that no thread is left with one alone.
  share_work(slices * each, sizes.work(), [&](std::size_t i) {
    HWY_DYNAMIC_DISPATCH(AttentionForwardItem)
    (sizes, input, o, saved, i % each / sizes.H, i % sizes.H, slices - 1 - i / each);
  });
}

void attention_backward(const AttentionSizes& sizes, const AttentionInput<float>& input,
                        const RowView<const float>& o, const float* saved,
                        const AttentionGradients<float>& gradients) {
  check(sizes, input);
  if (!o || saved == nullptr)
    wrong_use("Attention's backward must be given o and what its forward saved.");
  if (!gradients.d_o || !gradients.dq || !gradients.dk || !gradients.dv)
    wrong_use("Attention's backward must be given do and places for dq, dk and dv.");
  share_work(sizes.B * sizes.G, 2.5 * sizes.work(), [&](std::size_t i) {
    HWY_DYNAMIC_DISPATCH(AttentionBackwardItem)
    (sizes, input, o, saved, gradients, i / sizes.G, i % sizes.G);
  });
}

}  // namespace shellgame
#endif  // HWY_ONCE
