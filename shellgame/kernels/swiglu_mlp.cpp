#include "shellgame/kernels/swiglu_mlp.h"

#include <algorithm>
#include <array>

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

bool swiglu_mlp_should_save(std::int64_t width, std::int64_t) { return width > 64; }

void swiglu_mlp(std::int64_t rows, std::int64_t width, std::int64_t hidden, ConstRows x,
                const SwigluWeights& weights, float eps, Rows y, float* rstd, float* saved) {
  const std::array<Weight, 2> both = {Weight{weights.gate, hidden}, Weight{weights.up, hidden}};
  const Weight down = {weights.down, width};
  const PackedMatrix packed = PackedMatrix::transposed(both, width, weights.norm);
  const PackedMatrix packed_down = PackedMatrix::transposed({&down, 1}, hidden);
  const std::int64_t stride = good_stride(2 * hidden);
  for_row_tiles(rows, [&](std::int64_t first, std::int64_t count) {
    Scratch space(saved == nullptr ? count * stride : count * good_stride(hidden));
    const Rows h =
        saved == nullptr ? Rows{space.data(), stride} : Rows{saved, 2 * hidden}.from(first);
    rstd_tile(count, width, x.from(first), eps, rstd + first);
    TileProduct product = tile_product(count, x.from(first), packed, h);
    product.row_scale = rstd + first;
    gemm_tile(product);
    const Rows a = saved == nullptr ? h : Rows{space.data(), good_stride(hidden)};
    swiglu_tile(count, hidden, h, h.from(0, hidden), a);
    TileProduct last = tile_product(count, a, packed_down, y.from(first));
    last.base = x.from(first);
    gemm_tile(last);
  });
}

void swiglu_mlp_backward(std::int64_t rows, std::int64_t width, std::int64_t hidden, ConstRows x,
                         const SwigluWeights& weights, const float* rstd, const float* saved,
                         ConstRows dy, Rows dx, const SwigluGradients& gradients) {
  const std::array<Weight, 2> both = {Weight{weights.gate, hidden}, Weight{weights.up, hidden}};
  const Weight down = {weights.down, width};
  const PackedMatrix back = PackedMatrix::plain(both, width, weights.norm);
  const PackedMatrix back_down = PackedMatrix::plain({&down, 1}, hidden);
  const PackedMatrix forward = saved != nullptr
                                   ? PackedMatrix::transposed({}, 0)
                                   : PackedMatrix::transposed(both, width, weights.norm);
  // Sums: d(gate, up)^T (x rstd) [2 hidden, width], and a^T dy [hidden, width].
  Scratch sums(3 * hidden * width);
  const std::array<OuterSum, 2> outer = {OuterSum{2 * hidden, width, sums.data()},
                                         OuterSum{hidden, width, sums.data() + 2 * hidden * width}};
  const std::int64_t panels = panels_of(width) * kPanel * kTileRows;
  const std::int64_t stride = good_stride(3 * hidden), g_stride = panels_of(width) * kPanel;
  // The tile's space: panels of x and dy, rows of (d gate, d up, a), the gradient at the norm.
  sum_outer_products(
      rows, 2 * panels + kTileRows * (stride + g_stride), outer,
      [&](std::int64_t first, std::int64_t count, float* space, OuterOperands* operands) {
        const Rows h = {space + 2 * panels, stride}, a = h.from(0, 2 * hidden);
        const Rows g = {space + 2 * panels + kTileRows * stride, g_stride};
        ConstRows gate = {saved == nullptr ? h.data : saved + first * 2 * hidden,
                          saved == nullptr ? stride : 2 * hidden};
        if (saved == nullptr) {
          TileProduct again = tile_product(count, x.from(first), forward, h);
          again.row_scale = rstd + first;
          gemm_tile(again);
        }
        gemm_tile(tile_product(count, dy.from(first), back_down, a));
        swiglu_backward_tile(count, hidden, gate, gate.from(0, hidden), a, h, h.from(0, hidden), a);
        gemm_tile(tile_product(count, h, back, g));
        pack_panels(count, width, x.from(first), rstd + first, space);
        pack_panels(count, width, dy.from(first), nullptr, space + panels);
        norm_backward_tile(count, width, x.from(first), rstd + first, g, dy.from(first),
                           dx.from(first));
        operands[0] = {h, space};
        operands[1] = {a, space + panels};
      });
  const std::array<float*, 2> d_both = {gradients.gate, gradients.up};
  split_norm_gradient(both, width, weights.norm, sums.data(), gradients.norm, d_both);
  if (gradients.down != nullptr)
    transpose(hidden, width, sums.data() + 2 * hidden * width, gradients.down);
}

}  // namespace shellgame
