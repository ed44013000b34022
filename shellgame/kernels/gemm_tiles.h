// Products of one tile of rows, on the calling thread: what the fused kernels are made of. The
// order of summation of an element does not depend on where its row or column lies in a tile.
#pragma once

#include <cstdint>

#include "shellgame/kernels/gemm.h"

namespace shellgame {

inline constexpr std::int64_t kPanel = 16;        // columns of a panel
inline constexpr std::int64_t kDepthBlock = 256;  // a panel's block of depths stays in the L1 cache

inline std::int64_t panels_of(std::int64_t width) { return (width + kPanel - 1) / kPanel; }

// C [rows, width] = base + row_scale * (A B), B in panels of [depth][16], `panel_stride` floats
// apart.
struct TileProduct {
  std::int64_t rows = 0, depth = 0, width = 0;
  ConstRows a;
  const float* panels = nullptr;
  std::int64_t panel_stride = 0;
  Rows c;
  ConstRows base;                    // empty: nothing is added; may be c itself
  const float* row_scale = nullptr;  // [rows]; null: 1
  // What the thread will read next is fetched beside the products.
  static constexpr int kAhead = 3;
  struct Range {
    const float* data = nullptr;
    std::int64_t size = 0;
  } ahead[kAhead];
};
void gemm_tile(const TileProduct& product);

// The same for a whole packed matrix.
TileProduct tile_product(std::int64_t rows, ConstRows a, const PackedMatrix& b, Rows c);

// Only columns [first, first + width) of a packed matrix (first a multiple of 16), and only depths
// [depth, depth + count).
TileProduct tile_columns(std::int64_t rows, ConstRows a, const PackedMatrix& b, std::int64_t first,
                         std::int64_t width, Rows c);
TileProduct tile_depths(std::int64_t rows, ConstRows a, const PackedMatrix& b, std::int64_t depth,
                        std::int64_t count, Rows c);

// The `rows` rows after x's first `done` ones, to be fetched; nothing if x is empty.
inline TileProduct::Range rows_ahead(ConstRows x, std::int64_t done, std::int64_t rows) {
  if (x.data == nullptr || rows == 0) return {};
  return {x.row(done), rows * x.stride};
}

// [rows, width] -> panels [panel][panel_rows][16], of which the first `rows` rows are written
// (zeros beyond the width); row r times row_scale[r] (or 1).
void pack_panels(std::int64_t rows, std::int64_t width, ConstRows x, const float* row_scale,
                 float* panels, std::int64_t panel_rows);

// G [left_width, right_width] = or += L^T R over rows; R as pack_panels leaves it.
struct TileOuter {
  std::int64_t rows = 0, left_width = 0, right_width = 0;
  ConstRows left;
  const float* panels = nullptr;
  std::int64_t panel_rows = 0;
  Rows g = {};
  bool add = true;
};
// A stride of at least `width` whose rows fall into different sets of the caches.
inline std::int64_t good_stride(std::int64_t width) { return (width + 15) / 32 * 32 + 16; }
void gemm_tn_tile(const TileOuter& outer);

}  // namespace shellgame
