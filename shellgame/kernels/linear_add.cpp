#include "shellgame/kernels/linear_add.h"

#include <vector>

#include "shellgame/kernels/few_rows.h"
#include "shellgame/kernels/gemm_tiles.h"
#include "shellgame/kernels/outer_sums.h"

namespace shellgame {

void linear_add(std::int64_t rows, std::int64_t in, std::int64_t width, ConstRows x, ConstRows o,
                const float* weight, Rows y) {
  const Weight whole = {weight, width};
  if (rows <= kFewRows) {
    few_rows_product({.rows = rows,
                      .in = in,
                      .x = o,
                      .scale = nullptr,
                      .row_scale = nullptr,
                      .weights = {&whole, 1},
                      .base = x,
                      .y = y});
    return;
  }
  const PackedMatrix packed = PackedMatrix::transposed({&whole, 1}, in);
  for_row_tiles(rows, [&](std::int64_t first, std::int64_t count, std::int64_t next) {
    TileProduct product = tile_product(count, o.from(first), packed, y.from(first));
    if (x.data != nullptr) product.base = x.from(first);
    product.ahead[0] = rows_ahead(o, first + count, next);
    product.ahead[1] = rows_ahead(x, first + count, next);
    gemm_tile(product);
  });
}

void linear_add_backward(std::int64_t rows, std::int64_t in, std::int64_t width, ConstRows o,
                         const float* weight, ConstRows dy, Rows d_o, float* d_weight) {
  const Weight whole = {weight, width};
  const PackedMatrix packed = PackedMatrix::plain({&whole, 1}, in);
  const LeftColumns columns(width, dy.stride);
  std::vector<OuterSum> sums;
  columns.add_sums(in, d_weight, sums);
  sum_outer_products(rows, {&in, 1}, columns.space_size(), sums, [&](const OuterTile& tile) {
    const std::int64_t first = tile.first, done = first + tile.rows;
    if (d_o.data != nullptr) {
      TileProduct product = tile_product(tile.rows, dy.from(first), packed, d_o.from(first));
      product.ahead[0] = rows_ahead(dy, done, tile.next);
      product.ahead[1] = rows_ahead(o, done, tile.next);
      gemm_tile(product);
    }
    if (d_weight == nullptr) return;
    pack_panels(tile.rows, in, o.from(first), nullptr, tile.panels[0], tile.panel_rows);
    columns.add(tile, dy.from(first), tile.space);
  });
}

}  // namespace shellgame
