#include "shellgame/kernels/norm_linear.h"

#include <algorithm>
#include <vector>

#include "shellgame/kernels/few_rows.h"
#include "shellgame/kernels/gemm_tiles.h"
#include "shellgame/kernels/norm_gradients.h"
#include "shellgame/kernels/outer_sums.h"
#include "shellgame/kernels/row_tiles.h"
#include "shellgame/text/error.h"

namespace shellgame {

void norm_linear(std::int64_t rows, std::int64_t width, ConstRows x, const float* norm_weight,
                 float eps, std::span<const Weight> weights, Rows y, float* rstd) {
  if (rows <= kFewRows) {
    rstd_tile(rows, width, x, eps, rstd);
    few_rows_product({.rows = rows,
                      .in = width,
                      .x = x,
                      .scale = norm_weight,
                      .row_scale = rstd,
                      .weights = weights,
                      .base = {},
                      .y = y});
    return;
  }
  const PackedMatrix packed = PackedMatrix::transposed(weights, width, norm_weight);
  for_row_tiles(rows, [&](std::int64_t first, std::int64_t count, std::int64_t next) {
    rstd_tile(count, width, x.from(first), eps, rstd + first);
    TileProduct product = tile_product(count, x.from(first), packed, y.from(first));
    product.row_scale = rstd + first;
    product.ahead[0] = rows_ahead(x, first + count, next);
    gemm_tile(product);
  });
}

void norm_linear_backward(std::int64_t rows, std::int64_t width, ConstRows x,
                          const float* norm_weight, const float* rstd,
                          std::span<const Weight> weights, ConstRows dy, ConstRows d_residual,
                          Rows dx, float* d_norm_weight, std::span<float* const> d_weights) {
  if (d_weights.size() != weights.size()) {
    wrong_use("norm_linear_backward needs a gradient for each of {} weights, not {}",
              weights.size(), d_weights.size());
  }
  const PackedMatrix packed = PackedMatrix::plain(weights, width, norm_weight);
  const std::int64_t out = packed.depth();
  const bool wanted = d_norm_weight != nullptr ||
                      std::any_of(d_weights.begin(), d_weights.end(), [](float* d) { return d; });
  Scratch sum(wanted ? out * width : 0);  // dy^T (x rstd)
  const LeftColumns columns(out, dy.stride);
  std::vector<OuterSum> sums;
  columns.add_sums(width, wanted ? sum.data() : nullptr, sums);
  const std::int64_t g_stride = panels_of(width) * kPanel;
  // The tile's space: the gradient at the norm, a copy of dy's columns.
  sum_outer_products(rows, {&width, 1}, kTileRows * g_stride + columns.space_size(), sums,
                     [&](const OuterTile& tile) {
                       const std::int64_t first = tile.first, done = first + tile.rows;
                       const Rows g = {tile.space, g_stride};
                       if (dx.data != nullptr) {
                         TileProduct product = tile_product(tile.rows, dy.from(first), packed, g);
                         product.ahead[0] = rows_ahead(dy, done, tile.next);
                         product.ahead[1] = rows_ahead(x, done, tile.next);
                         product.ahead[2] = rows_ahead(d_residual, done, tile.next);
                         gemm_tile(product);
                       }
                       if (wanted) {
                         pack_panels(tile.rows, width, x.from(first), rstd + first, tile.panels[0],
                                     tile.panel_rows);
                         columns.add(tile, dy.from(first), tile.space + kTileRows * g_stride);
                       }
                       if (dx.data == nullptr) return;
                       norm_backward_tile(tile.rows, width, x.from(first), rstd + first, g,
                                          d_residual.data ? d_residual.from(first) : d_residual,
                                          dx.from(first));
                     });
  if (wanted)
    split_norm_gradient(weights, width, norm_weight, sum.data(), d_norm_weight, d_weights);
}

}  // namespace shellgame
