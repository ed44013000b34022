// Gradients of weights, G_j = L_j^T R_j summed over all rows, beside the work that makes L_j and
// R_j tile by tile. Same bits for any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "shellgame/kernels/gemm.h"

namespace shellgame {

inline constexpr std::int64_t kTileRows = 96;

struct OuterSum {
  std::int64_t left = 0, right = 0;
  float* sum = nullptr;  // [left, right], written; null: not wanted
};
// Of one tile: L's rows and R's panels (pack_panels). They may lie in the tile's space or outside.
struct OuterOperands {
  ConstRows left;
  const float* panels = nullptr;
};
// Works on rows [first, first + rows) with `space` of its own, and says where the operands are.
using TileWork = std::function<void(std::int64_t first, std::int64_t rows, float* space,
                                    OuterOperands* operands)>;

void sum_outer_products(std::int64_t rows, std::int64_t space_size, std::span<const OuterSum> sums,
                        const TileWork& work);

// work(first, count) for every tile of rows, on all threads.
void for_row_tiles(std::int64_t rows,
                   const std::function<void(std::int64_t first, std::int64_t count)>& work);

// Rows that can be read down their columns: x itself, or a copy in `space` if its stride is bad.
// Takes [rows, good_stride(width)] of space.
ConstRows readable_columns(std::int64_t rows, std::int64_t width, ConstRows x, float* space);

}  // namespace shellgame
