#include "shellgame/kernels/gemm.h"

#include <algorithm>

#include "shellgame/kernels/gemm_tiles.h"
#include "shellgame/kernels/outer_sums.h"
#include "shellgame/kernels/share_work.h"

namespace shellgame {
namespace {

std::int64_t total_out(std::span<const Weight> weights) {
  std::int64_t out = 0;
  for (const Weight& weight : weights) out += weight.out;
  return out;
}

// Packing of a weight that fits a cache is not worth waking threads.
void for_panels(std::int64_t panels, std::int64_t size,
                const std::function<void(std::int64_t)>& work) {
  if (size < 1 << 16) {
    for (std::int64_t p = 0; p < panels; ++p) work(p);
  } else {
    parallel_for(static_cast<std::size_t>(panels),
                 [&](std::size_t p) { work(static_cast<std::int64_t>(p)); });
  }
}

}  // namespace

PackedMatrix::PackedMatrix(std::int64_t depth, std::int64_t width)
    : depth_(depth), width_(width), values_(panels_of(width) * kPanel * depth) {}

PackedMatrix PackedMatrix::transposed(std::span<const Weight> weights, std::int64_t in,
                                      const float* scale) {
  PackedMatrix packed(in, total_out(weights));
  std::vector<const float*> rows;  // of [W1; W2; ...]
  for (const Weight& weight : weights) {
    for (std::int64_t o = 0; o < weight.out; ++o) rows.push_back(weight.data + o * in);
  }
  for_panels(panels_of(packed.width_), in * packed.width_, [&](std::int64_t p) {
    float* to = packed.values_.data() + p * kPanel * in;
    const std::int64_t valid = std::min(kPanel, packed.width_ - p * kPanel);
    if (valid < kPanel) std::fill(to, to + kPanel * in, 0.0F);
    // Blocks of 16 depths: the lines that are written stay in the cache.
    for (std::int64_t k = 0; k < in; k += 16) {
      const std::int64_t end = std::min(in, k + 16);
      for (std::int64_t c = 0; c < valid; ++c) {
        const float* from = rows[static_cast<std::size_t>(p * kPanel + c)];
        if (scale == nullptr) {
          for (std::int64_t i = k; i < end; ++i) to[i * kPanel + c] = from[i];
        } else {
          for (std::int64_t i = k; i < end; ++i) to[i * kPanel + c] = from[i] * scale[i];
        }
      }
    }
  });
  return packed;
}

PackedMatrix PackedMatrix::plain(std::span<const Weight> weights, std::int64_t in,
                                 const float* scale) {
  PackedMatrix packed(total_out(weights), in);
  const std::int64_t depth = packed.depth_;
  for_panels(panels_of(in), in * depth, [&](std::int64_t p) {
    float* to = packed.values_.data() + p * kPanel * depth;
    const std::int64_t first = p * kPanel, valid = std::min(kPanel, in - first);
    float factors[kPanel];
    for (std::int64_t c = 0; c < kPanel; ++c)
      factors[c] = c >= valid ? 0.0F : scale == nullptr ? 1.0F : scale[first + c];
    for (const Weight& weight : weights) {
      for (std::int64_t o = 0; o < weight.out; ++o, to += kPanel) {
        const float* from = weight.data + o * in + first;
        if (valid == kPanel) {
          for (std::int64_t c = 0; c < kPanel; ++c) to[c] = from[c] * factors[c];
        } else {
          for (std::int64_t c = 0; c < kPanel; ++c) to[c] = c < valid ? from[c] * factors[c] : 0.0F;
        }
      }
    }
  });
  return packed;
}

void gemm(std::int64_t rows, ConstRows a, const PackedMatrix& b, Rows c, bool add) {
  // Few rows: the columns are shared out instead.
  const std::int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  const std::int64_t columns = tiles >= 8 ? b.width() : 16 * kPanel;
  const std::int64_t groups = (b.width() + columns - 1) / columns;
  const double work = static_cast<double>(rows * b.depth() * b.width());
  share_work(static_cast<std::size_t>(tiles * groups), work, [&](std::size_t item) {
    const std::int64_t first = static_cast<std::int64_t>(item) / groups * kTileRows;
    const std::int64_t column = static_cast<std::int64_t>(item) % groups * columns;
    TileProduct product =
        tile_product(std::min(kTileRows, rows - first), a.from(first), b, c.from(first, column));
    product.panels += column * b.depth();
    product.width = std::min(columns, b.width() - column);
    if (add) product.base = product.c;
    gemm_tile(product);
  });
}

void gemm_tn(std::int64_t rows, ConstRows left, std::int64_t left_width, ConstRows right,
             std::int64_t right_width, float* g, bool add) {
  Scratch sum(add ? left_width * right_width : 0);
  const LeftColumns columns(left_width, left.stride);
  std::vector<OuterSum> sums;
  columns.add_sums(right_width, add ? sum.data() : g, sums);
  sum_outer_products(rows, {&right_width, 1}, columns.space_size(), sums,
                     [&](const OuterTile& tile) {
                       pack_panels(tile.rows, right_width, right.from(tile.first), nullptr,
                                   tile.panels[0], tile.panel_rows);
                       columns.add(tile, left.from(tile.first), tile.space);
                     });
  if (!add) return;
  for (std::int64_t i = 0; i < sum.size(); ++i) g[i] += sum.data()[i];
}

}  // namespace shellgame
