// Gradients of weights, G_j = L_j^T R_j summed over all rows, beside the work that makes L_j and
// R_j tile by tile. Same bits for any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "shellgame/kernels/gemm.h"

namespace shellgame {

inline constexpr std::int64_t kTileRows = 96;
inline constexpr std::int64_t kColumnBlock = 256;  // columns of a wide L that are worked on at once

// One G [left, right], written. Its sum is null where nobody wants it.
struct OuterSum {
  std::int64_t left = 0, right = 0;
  float* sum = nullptr;
};

struct OuterTile {
  std::int64_t first = 0, rows = 0;
  std::int64_t next = 0;        // rows that this thread will work on after these
  float* space = nullptr;       // of this tile alone
  bool keep = false;            // operands must stay until the work on all tiles is done
  std::vector<float*> panels;   // where each right operand goes, by
  std::int64_t panel_rows = 0;  // pack_panels(rows, ..., panels[i], panel_rows)
  // Adds L^T R to sum j: L's rows, in the tile's space or outside, and which of the panels is R.
  std::function<void(std::size_t j, ConstRows left, std::size_t right)> add;

  // Space for operands of block b of several: the same for all unless they must stay.
  float* block(float* from, std::int64_t b, std::int64_t size) const {
    return keep ? from + b * size : from;
  }
};
using TileWork = std::function<void(const OuterTile& tile)>;

// `right_widths` of all right operands; `space_size` is for tiles that keep their operands.
void sum_outer_products(std::int64_t rows, std::span<const std::int64_t> right_widths,
                        std::int64_t space_size, std::span<const OuterSum> sums,
                        const TileWork& work);

// A left operand [rows, width] that the caller has: in blocks of columns, and copied where its
// stride is bad for reading down the columns.
class LeftColumns {
 public:
  LeftColumns(std::int64_t width, std::int64_t stride);
  // The sums of L^T R [width, right]; `sum` may be null.
  void add_sums(std::int64_t right, float* sum, std::vector<OuterSum>& sums) const;
  std::int64_t space_size() const;
  // By right operand 0.
  void add(const OuterTile& tile, ConstRows x, float* space) const;

 private:
  std::int64_t width_, block_;
  bool copy_;
};

// work(first, count, next) for every tile of rows, on all threads; `next` rows follow on the same
// thread.
void for_row_tiles(
    std::int64_t rows,
    const std::function<void(std::int64_t first, std::int64_t count, std::int64_t next)>& work);

}  // namespace shellgame
