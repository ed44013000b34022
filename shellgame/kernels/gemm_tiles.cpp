#include "shellgame/kernels/gemm_tiles.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "shellgame/kernels/gemm_tiles.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kPanel>;
using V = hn::Vec<D>;
inline constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
inline constexpr int kVectors = static_cast<int>(kPanel) / kLanes;  // of a full panel
// Panels beside each other in one register tile: with two, a number of A that was read serves twice
// as many products.
inline constexpr int kPanelsOfTile = HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86 ? 2 : 1;
// As many rows as leave registers for the panel's vectors and one broadcast.
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
inline constexpr int kTileRows = 12;
#elif HWY_TARGET == HWY_AVX2 || HWY_ARCH_ARM_A64
inline constexpr int kTileRows = 6;
#else
inline constexpr int kTileRows = kVectors >= 16 ? 1 : 3;
#endif

// Where a register tile goes: c = base + scale * acc; columns beyond `valid` are not touched.
struct Place {
  float* c;
  std::int64_t c_stride;
  const float* base;
  std::int64_t base_stride;
  const float* scale;
};

template <int kCount>
HWY_INLINE void store_row(const V (&acc)[kCount], float* c, const float* base, float scale) {
  const D d;
  const V factor = hn::Set(d, scale);
#pragma GCC unroll 16
  for (int v = 0; v < kCount; ++v) {
    hn::StoreU(base == nullptr ? hn::Mul(acc[v], factor)
                               : hn::MulAdd(acc[v], factor, hn::LoadU(d, base + v * kLanes)),
               d, c + v * kLanes);
  }
}

// Panels of B, [depth][16] each, and how far the second one lies behind the first.
struct Panels {
  const float* data;
  std::int64_t stride;
};

// acc[i][v] = sum over k of A(i, k) * panel[k][v]; A(i, k) is a[i * stride + k], or a[k * stride +
// i] when A is read transposed. Vectors beyond those of a panel are the next panel's.
template <int kCountRows, int kCount, bool kTransposed>
HWY_NOINLINE void register_tile(std::int64_t depth, const float* HWY_RESTRICT a,
                                std::int64_t stride, Panels panels, const Place& place) {
  const float* HWY_RESTRICT panel = panels.data;
  const D d;
  V acc[kCountRows][kCount];
#pragma GCC unroll 16
  for (int i = 0; i < kCountRows; ++i) {
#pragma GCC unroll 16
    for (int v = 0; v < kCount; ++v) acc[i][v] = hn::Zero(d);
    __builtin_prefetch(place.c + i * place.c_stride, 1);
    __builtin_prefetch(place.c + i * place.c_stride + kPanel - 1, 1);
    if (kCount > kVectors) __builtin_prefetch(place.c + i * place.c_stride + 2 * kPanel - 1, 1);
  }
#pragma GCC unroll 4
  for (std::int64_t k = 0; k < depth; ++k) {
    V b[kCount];
#pragma GCC unroll 16
    for (int v = 0; v < kCount; ++v)
      b[v] = hn::Load(d, panel + v / kVectors * panels.stride + k * kPanel + v % kVectors * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kCountRows; ++i) {
      const V x = hn::Set(d, kTransposed ? a[k * stride + i] : a[i * stride + k]);
#pragma GCC unroll 16
      for (int v = 0; v < kCount; ++v) acc[i][v] = hn::MulAdd(x, b[v], acc[i][v]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kCountRows; ++i) {
    store_row<kCount>(acc[i], place.c + i * place.c_stride,
                      place.base == nullptr ? nullptr : place.base + i * place.base_stride,
                      place.scale == nullptr ? 1.0F : place.scale[i]);
  }
}

// The last rows, fewer than kRows, by the kernel of exactly that many.
template <int kCountRows, int kCount, bool kTransposed>
HWY_INLINE void some_rows(std::int64_t rows, std::int64_t depth, const float* a,
                          std::int64_t stride, Panels panels, const Place& place) {
  if (rows == kCountRows) {
    register_tile<kCountRows, kCount, kTransposed>(depth, a, stride, panels, place);
  } else if constexpr (kCountRows > 1) {
    some_rows<kCountRows - 1, kCount, kTransposed>(rows, depth, a, stride, panels, place);
  }
}

// Memory that will be read soon comes into the L2 cache a few lines at a time, beside the products.
struct Streams {
  struct Stream {
    const float* at = nullptr;
    std::int64_t lines = 0, step = 0;
  };
  Stream panels[kPanelsOfTile], ahead[TileProduct::kAhead];

  static Stream over(const float* at, std::int64_t size, std::int64_t steps) {
    const std::int64_t lines = (size + 15) / 16;
    return {at, lines, (lines + steps - 1) / steps};
  }
  static void advance(Stream& stream) {
    const std::int64_t lines = std::min(stream.lines, stream.step);
    for (std::int64_t i = 0; i < lines; ++i) __builtin_prefetch(stream.at + 16 * i, 0, 2);
    stream.at += 16 * lines;
    stream.lines -= lines;
  }
  HWY_INLINE void advance() {
    for (Stream& stream : panels) {
      if (stream.lines > 0) advance(stream);
    }
    for (Stream& stream : ahead) {
      if (stream.lines > 0) advance(stream);
    }
  }
};

// One panel, or some beside each other, against all rows of the tile.
template <int kRows, int kCount, bool kTransposed>
void panel_rows(std::int64_t rows, std::int64_t depth, const float* a, std::int64_t stride,
                Panels panels, Place place, std::int64_t valid, Streams& streams) {
  // Columns beyond the width belong to somebody else: such a panel goes through a tile of its own.
  const bool whole = valid >= kCount * kLanes;
  HWY_ALIGN float tile[kRows * kPanel];
  for (std::int64_t r = 0; r < rows; r += kRows) {
    const std::int64_t count = std::min<std::int64_t>(kRows, rows - r);
    streams.advance();
    if (whole) {
      some_rows<kRows, kCount, kTransposed>(count, depth, a, stride, panels, place);
    } else if constexpr (kCount <= kVectors) {
      some_rows<kRows, kCount, kTransposed>(count, depth, a, stride, panels,
                                            {tile, kPanel, nullptr, 0, place.scale});
      for (std::int64_t i = 0; i < count; ++i) {
        float* c = place.c + i * place.c_stride;
        const float* base = place.base == nullptr ? nullptr : place.base + i * place.base_stride;
        for (std::int64_t j = 0; j < valid; ++j)
          c[j] = base == nullptr ? tile[i * kPanel + j] : base[j] + tile[i * kPanel + j];
      }
    }
    a += kTransposed ? kRows : kRows * stride;
    place.c += kRows * place.c_stride;
    if (place.base != nullptr) place.base += kRows * place.base_stride;
    if (place.scale != nullptr) place.scale += kRows;
  }
}

// How many columns are done together, of the `left` that there are.
HWY_INLINE std::int64_t columns_at_once(std::int64_t left) {
  return left >= kPanelsOfTile * kPanel ? kPanelsOfTile * kPanel : std::min(kPanel, left);
}

template <bool kTransposed>
HWY_INLINE void any_panel(std::int64_t rows, std::int64_t depth, const float* a,
                          std::int64_t stride, Panels panels, const Place& place,
                          std::int64_t valid, Streams& streams) {
  // A last panel of few columns costs half.
  constexpr int kHalf = kVectors > 1 ? kVectors / 2 : 1;
  constexpr int kHalfRows = kVectors > 1 && kTileRows > 1 ? 2 * kTileRows : kTileRows;
  if (valid > kPanel) {
    panel_rows<kTileRows, kPanelsOfTile * kVectors, kTransposed>(rows, depth, a, stride, panels,
                                                                 place, valid, streams);
  } else if (valid <= kHalf * kLanes) {
    panel_rows<kHalfRows, kHalf, kTransposed>(rows, depth, a, stride, panels, place, valid,
                                              streams);
  } else {
    panel_rows<kTileRows, kVectors, kTransposed>(rows, depth, a, stride, panels, place, valid,
                                                 streams);
  }
}

void gemm_tile(const TileProduct& p) {
  // Of a deep product, as many depths at a time as let the tile's rows stay in the L2 cache.
  constexpr std::int64_t kDeep = 3 * kDepthBlock;
  const std::int64_t row_steps = (p.rows + kTileRows - 1) / kTileRows;
  const std::int64_t steps =
      row_steps * panels_of(p.width) * ((p.depth + kDepthBlock - 1) / kDepthBlock);
  const bool large = p.depth * p.width > 1 << 15;  // panels may have left the L2 cache
  Streams streams;
  for (int i = 0; i < TileProduct::kAhead; ++i)
    streams.ahead[i] = Streams::over(p.ahead[i].data, p.ahead[i].size, steps);
  for (std::int64_t deep = 0; deep < p.depth; deep += kDeep) {
    const std::int64_t deep_end = std::min(p.depth, deep + kDeep);
    for (std::int64_t column = 0, valid = 0; column < p.width; column += valid) {
      const float* panel = p.panels + column / kPanel * p.panel_stride;
      valid = columns_at_once(p.width - column);
      for (std::int64_t k = deep; k < deep_end; k += kDepthBlock) {
        const std::int64_t depth = std::min(kDepthBlock, deep_end - k);
        // What follows: the panel's next block, or the next panel's first.
        const std::int64_t next = k + kDepthBlock;
        const std::int64_t left = next < deep_end ? valid : p.width - column - valid;
        for (std::int64_t i = 0;
             large && i < std::min<std::int64_t>(panels_of(left), kPanelsOfTile); ++i) {
          const float* at = next < deep_end
                                ? panel + next * kPanel
                                : panel + panels_of(valid) * p.panel_stride + deep * kPanel;
          const std::int64_t size =
              std::min(kDepthBlock, deep_end - (next < deep_end ? next : deep));
          streams.panels[i] = Streams::over(at + i * p.panel_stride, size * kPanel, row_steps);
        }
        const ConstRows base = k > 0 ? ConstRows(p.c) : p.base;
        const Place place = {p.c.data + column, p.c.stride,
                             base.data == nullptr ? nullptr : base.data + column, base.stride,
                             p.row_scale};
        any_panel<false>(p.rows, depth, p.a.data + k, p.a.stride,
                         {panel + k * kPanel, p.panel_stride}, place, valid, streams);
      }
    }
  }
}

void gemm_tn_tile(const TileOuter& o) {
  Streams streams;
  const std::int64_t steps = (o.left_width + kTileRows - 1) / kTileRows;
  for (std::int64_t column = 0, valid = 0; column < o.right_width; column += valid) {
    valid = columns_at_once(o.right_width - column);
    float* c = o.g.data + column;
    const float* panel = o.panels + column * o.panel_rows;
    for (std::int64_t i = 0;
         i < std::min<std::int64_t>(panels_of(o.right_width - column - valid), kPanelsOfTile); ++i)
      streams.panels[i] = Streams::over(panel + (panels_of(valid) + i) * kPanel * o.panel_rows,
                                        kPanel * o.rows, steps);
    any_panel<true>(o.left_width, o.rows, o.left.data, o.left.stride,
                    {panel, kPanel * o.panel_rows},
                    {c, o.g.stride, o.add ? c : nullptr, o.g.stride, nullptr}, valid, streams);
  }
}

void pack_panels(std::int64_t rows, std::int64_t width, ConstRows x, const float* row_scale,
                 float* panels, std::int64_t panel_rows) {
  const D d;
  for (std::int64_t column = 0; column < width; column += kPanel) {
    const std::int64_t valid = std::min(kPanel, width - column);
    float* to = panels + column * panel_rows;
    for (std::int64_t r = 0; r < rows; ++r, to += kPanel) {
      const float* from = x.row(r) + column;
      const float scale = row_scale == nullptr ? 1.0F : row_scale[r];
      if (valid == kPanel) {
        for (int v = 0; v < kVectors; ++v)
          hn::Store(hn::Mul(hn::LoadU(d, from + v * kLanes), hn::Set(d, scale)), d,
                    to + v * kLanes);
      } else {
        for (std::int64_t i = 0; i < kPanel; ++i) to[i] = i < valid ? from[i] * scale : 0.0F;
      }
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shellgame {

HWY_EXPORT(gemm_tile);
HWY_EXPORT(gemm_tn_tile);
HWY_EXPORT(pack_panels);

void gemm_tile(const TileProduct& product) { HWY_DYNAMIC_DISPATCH(gemm_tile)(product); }
void gemm_tn_tile(const TileOuter& outer) { HWY_DYNAMIC_DISPATCH(gemm_tn_tile)(outer); }
void pack_panels(std::int64_t rows, std::int64_t width, ConstRows x, const float* row_scale,
                 float* panels, std::int64_t panel_rows) {
  HWY_DYNAMIC_DISPATCH(pack_panels)(rows, width, x, row_scale, panels, panel_rows);
}

TileProduct tile_product(std::int64_t rows, ConstRows a, const PackedMatrix& b, Rows c) {
  TileProduct product;
  product.rows = rows;
  product.depth = b.depth();
  product.width = b.width();
  product.a = a;
  product.panels = b.data();
  product.panel_stride = b.depth() * kPanel;
  product.c = c;
  return product;
}

TileProduct tile_columns(std::int64_t rows, ConstRows a, const PackedMatrix& b, std::int64_t first,
                         std::int64_t width, Rows c) {
  TileProduct product = tile_product(rows, a, b, c);
  product.panels += first * b.depth();
  product.width = width;
  return product;
}

TileProduct tile_depths(std::int64_t rows, ConstRows a, const PackedMatrix& b, std::int64_t depth,
                        std::int64_t count, Rows c) {
  TileProduct product = tile_product(rows, a, b, c);
  product.panels += depth * kPanel;
  product.depth = count;
  return product;
}

}  // namespace shellgame
#endif  // HWY_ONCE
