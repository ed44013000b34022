#include "shellgame/kernels/norm_linear.h"

#include <algorithm>

#include "shellgame/kernels/gemm_tiles.h"
#include "shellgame/kernels/norm_gradients.h"
#include "shellgame/kernels/outer_sums.h"
#include "shellgame/kernels/row_tiles.h"
#include "shellgame/system/error.h"

namespace shellgame {

void norm_linear(std::int64_t rows, std::int64_t width, ConstRows x, const float* norm_weight,
                 float eps, std::span<const Weight> weights, Rows y, float* rstd) {
  const PackedMatrix packed = PackedMatrix::transposed(weights, width, norm_weight);
  for_row_tiles(rows, [&](std::int64_t first, std::int64_t count) {
    rstd_tile(count, width, x.from(first), eps, rstd + first);
    TileProduct product = tile_product(count, x.from(first), packed, y.from(first));
    product.row_scale = rstd + first;
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
  const OuterSum outer = {out, width, wanted ? sum.data() : nullptr};
  const std::int64_t panels = panels_of(width) * kPanel * kTileRows;
  const std::int64_t stride = panels_of(width) * kPanel;
  sum_outer_products(
      rows, panels + kTileRows * std::max(stride, good_stride(out)), {&outer, 1},
      [&](std::int64_t first, std::int64_t count, float* space, OuterOperands* operands) {
        const Rows g = {space + panels, stride};
        gemm_tile(tile_product(count, dy.from(first), packed, g));
        if (wanted) pack_panels(count, width, x.from(first), rstd + first, space);
        const ConstRows residual = d_residual.data ? d_residual.from(first) : d_residual;
        norm_backward_tile(count, width, x.from(first), rstd + first, g, residual, dx.from(first));
        operands->panels = space;
        if (wanted) operands->left = readable_columns(count, out, dy.from(first), space + panels);
      });
  if (wanted)
    split_norm_gradient(weights, width, norm_weight, sum.data(), d_norm_weight, d_weights);
}

}  // namespace shellgame
