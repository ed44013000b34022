#include "shellgame/kernels/swiglu_mlp.h"

#include <algorithm>
#include <array>
#include <vector>

#include "shellgame/kernels/few_rows.h"
#include "shellgame/kernels/gemm_tiles.h"
#include "shellgame/kernels/norm_gradients.h"
#include "shellgame/kernels/outer_sums.h"
#include "shellgame/kernels/row_tiles.h"
#include "shellgame/system/threads.h"

namespace shellgame {
namespace {

// [rows, columns] -> [columns, rows].
void transpose(std::int64_t rows, std::int64_t columns, const float* from, float* to) {
  constexpr std::int64_t kBlock = 16;
  parallel_for(static_cast<std::size_t>((columns + kBlock - 1) / kBlock), [&](std::size_t block) {
    const std::int64_t begin = static_cast<std::int64_t>(block) * kBlock;
    const std::int64_t end = std::min(columns, begin + kBlock);
    for (std::int64_t r = 0; r < rows; r += kBlock) {
      for (std::int64_t c = begin; c < end; ++c) {
        for (std::int64_t i = r; i < std::min(rows, r + kBlock); ++i)
          to[c * rows + i] = from[i * columns + c];
      }
    }
  });
}

}  // namespace

bool swiglu_mlp_should_save(std::int64_t width, std::int64_t) { return width >= 64; }

void swiglu_mlp(std::int64_t rows, std::int64_t width, std::int64_t hidden, ConstRows x,
                const SwigluWeights& weights, float eps, Rows y, float* rstd, float* saved) {
  const Weight gate = {weights.gate, hidden}, up = {weights.up, hidden};
  const Weight down = {weights.down, width};
  if (rows <= kFewRows) {
    Scratch space(saved != nullptr ? 0 : 2 * rows * hidden);
    Scratch products(rows * hidden);
    const std::array<Weight, 2> both = {gate, up};
    const Rows inner = {saved != nullptr ? saved : space.data(), 2 * hidden};
    const Rows a = {products.data(), hidden};
    rstd_tile(rows, width, x, eps, rstd);
    few_rows_product({.rows = rows,
                      .in = width,
                      .x = x,
                      .scale = weights.norm,
                      .row_scale = rstd,
                      .weights = both,
                      .base = {},
                      .y = inner});
    swiglu_tile(rows, hidden, inner, inner.from(0, hidden), a);
    few_rows_product({.rows = rows,
                      .in = hidden,
                      .x = a,
                      .scale = nullptr,
                      .row_scale = nullptr,
                      .weights = {&down, 1},
                      .base = x,
                      .y = y});
    return;
  }
  const PackedMatrix packed_gate = PackedMatrix::transposed({&gate, 1}, width, weights.norm);
  const PackedMatrix packed_up = PackedMatrix::transposed({&up, 1}, width, weights.norm);
  const PackedMatrix packed_down = PackedMatrix::transposed({&down, 1}, hidden);
  const std::int64_t stride = good_stride(std::min(hidden, kColumnBlock));
  for_row_tiles(rows, [&](std::int64_t first, std::int64_t count, std::int64_t next) {
    Scratch space(2 * count * stride);
    rstd_tile(count, width, x.from(first), eps, rstd + first);
    // Blocks of hidden columns go through all steps while they are in the cache.
    for (std::int64_t column = 0; column < hidden; column += kColumnBlock) {
      const std::int64_t columns = std::min(kColumnBlock, hidden - column);
      Rows g = {space.data(), stride}, u = {space.data() + count * stride, stride};
      const Rows a = g;
      if (saved != nullptr) {
        g = Rows{saved, 2 * hidden}.from(first, column);
        u = g.from(0, hidden);
      }
      TileProduct product = tile_columns(count, x.from(first), packed_gate, column, columns, g);
      product.row_scale = rstd + first;
      if (column == 0) product.ahead[0] = rows_ahead(x, first + count, next);
      gemm_tile(product);
      product = tile_columns(count, x.from(first), packed_up, column, columns, u);
      product.row_scale = rstd + first;
      gemm_tile(product);
      swiglu_tile(count, columns, g, u, a);
      TileProduct last = tile_depths(count, a, packed_down, column, columns, y.from(first));
      last.base = column == 0 ? x.from(first) : ConstRows(last.c);
      gemm_tile(last);
    }
  });
}

void swiglu_mlp_backward(std::int64_t rows, std::int64_t width, std::int64_t hidden, ConstRows x,
                         const SwigluWeights& weights, const float* rstd, const float* saved,
                         ConstRows dy, Rows dx, const SwigluGradients& gradients) {
  const std::array<Weight, 2> both = {Weight{weights.gate, hidden}, Weight{weights.up, hidden}};
  const Weight down = {weights.down, width};
  const PackedMatrix back = PackedMatrix::plain(both, width, weights.norm);
  const PackedMatrix back_down = PackedMatrix::plain({&down, 1}, hidden);
  std::vector<PackedMatrix> forward;  // gate, up
  if (saved == nullptr) {
    for (const Weight& weight : both)
      forward.push_back(PackedMatrix::transposed({&weight, 1}, width, weights.norm));
  }
  // Sums [3 hidden, width] for each block of hidden columns: d gate and d up by (x rstd), a by dy.
  const bool inward = gradients.gate || gradients.up || gradients.norm;  // d gate and d up by x
  Scratch sum(inward || gradients.down ? 3 * hidden * width : 0);
  std::vector<OuterSum> sums;
  for (std::int64_t column = 0; column < hidden; column += kColumnBlock) {
    for (std::int64_t part = 0; part < 3; ++part) {
      const bool wanted = part < 2 ? inward : gradients.down != nullptr;
      sums.push_back({std::min(kColumnBlock, hidden - column), width,
                      wanted ? sum.data() + (part * hidden + column) * width : nullptr});
    }
  }
  const std::int64_t blocks = (hidden + kColumnBlock - 1) / kColumnBlock;
  const std::int64_t stride = good_stride(std::min(hidden, kColumnBlock));
  const std::int64_t block_size = kTileRows * stride;
  const std::int64_t g_stride = panels_of(width) * kPanel;
  const std::array<std::int64_t, 2> right_widths = {width, width};  // x, dy
  // The tile's space: the gradient at the norm, then (d gate, d up, a) of each block.
  const std::int64_t space_size = kTileRows * g_stride + 3 * blocks * block_size;
  sum_outer_products(rows, right_widths, space_size, sums, [&](const OuterTile& tile) {
    const std::int64_t first = tile.first, count = tile.rows, done = first + count;
    const Rows g = {tile.space, g_stride};
    if (inward)
      pack_panels(count, width, x.from(first), rstd + first, tile.panels[0], tile.panel_rows);
    if (gradients.down != nullptr)
      pack_panels(count, width, dy.from(first), nullptr, tile.panels[1], tile.panel_rows);
    for (std::int64_t column = 0; column < hidden; column += kColumnBlock) {
      const std::int64_t columns = std::min(kColumnBlock, hidden - column);
      const std::int64_t b = column / kColumnBlock;
      float* const block = tile.block(tile.space + kTileRows * g_stride, b, 3 * block_size);
      const Rows d_gate = {block, stride}, d_up = {block + block_size, stride};
      const Rows a = {block + 2 * block_size, stride};
      ConstRows gate = d_gate, up = d_up;
      if (saved != nullptr) {
        gate = ConstRows{saved, 2 * hidden}.from(first, column);
        up = gate.from(0, hidden);
      } else {
        for (std::size_t i = 0; i < 2; ++i) {
          TileProduct again = tile_columns(count, x.from(first), forward[i], column, columns,
                                           i == 0 ? d_gate : d_up);
          again.row_scale = rstd + first;
          gemm_tile(again);
        }
      }
      TileProduct product = tile_columns(count, dy.from(first), back_down, column, columns, a);
      if (column == 0) {
        product.ahead[0] = rows_ahead(x, done, tile.next);
        product.ahead[1] = rows_ahead(dy, done, tile.next);
        if (blocks == 1) product.ahead[2] = rows_ahead({saved, 2 * hidden}, done, tile.next);
      }
      gemm_tile(product);
      swiglu_backward_tile(count, columns, gate, up, a, d_gate, d_up, a);
      for (std::int64_t i = 0; i < 2 && dx.data != nullptr; ++i) {
        product = tile_depths(count, i == 0 ? d_gate : d_up, back, i * hidden + column, columns, g);
        if (column > 0 || i > 0) product.base = g;
        gemm_tile(product);
      }
      const auto j = static_cast<std::size_t>(3 * b);
      tile.add(j, d_gate, 0);
      tile.add(j + 1, d_up, 0);
      tile.add(j + 2, a, 1);
    }
    if (dx.data == nullptr) return;
    norm_backward_tile(count, width, x.from(first), rstd + first, g, dy.from(first),
                       dx.from(first));
  });
  const std::array<float*, 2> d_both = {gradients.gate, gradients.up};
  if (inward) split_norm_gradient(both, width, weights.norm, sum.data(), gradients.norm, d_both);
  if (gradients.down != nullptr)
    transpose(hidden, width, sum.data() + 2 * hidden * width, gradients.down);
}

}  // namespace shellgame
