#include "shellgame/kernels/linear_add.h"

#include "shellgame/kernels/gemm_tiles.h"
#include "shellgame/kernels/outer_sums.h"

namespace shellgame {

void linear_add(std::int64_t rows, std::int64_t in, std::int64_t width, ConstRows x, ConstRows o,
                const float* weight, Rows y) {
  const Weight whole = {weight, width};
  const PackedMatrix packed = PackedMatrix::transposed({&whole, 1}, in);
  for_row_tiles(rows, [&](std::int64_t first, std::int64_t count) {
    TileProduct product = tile_product(count, o.from(first), packed, y.from(first));
    if (x.data != nullptr) product.base = x.from(first);
    gemm_tile(product);
  });
}

void linear_add_backward(std::int64_t rows, std::int64_t in, std::int64_t width, ConstRows o,
                         const float* weight, ConstRows dy, Rows d_o, float* d_weight) {
  const Weight whole = {weight, width};
  const PackedMatrix packed = PackedMatrix::plain({&whole, 1}, in);
  const OuterSum outer = {width, in, d_weight};
  const std::int64_t panels = panels_of(in) * kPanel * kTileRows;
  sum_outer_products(
      rows, panels + kTileRows * good_stride(width), {&outer, 1},
      [&](std::int64_t first, std::int64_t count, float* space, OuterOperands* operands) {
        if (d_o.data != nullptr)
          gemm_tile(tile_product(count, dy.from(first), packed, d_o.from(first)));
        if (d_weight == nullptr) return;
        pack_panels(count, in, o.from(first), nullptr, space);
        operands->panels = space;
        operands->left = readable_columns(count, width, dy.from(first), space + panels);
      });
}

}  // namespace shellgame
