#include "shellgame/kernels/outer_sums.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "shellgame/kernels/gemm_tiles.h"
#include "shellgame/kernels/row_tiles.h"
#include "shellgame/system/threads.h"

namespace shellgame {
namespace {

constexpr std::int64_t kMostChunks = 16;
// Sums beyond this (in floats) are not kept once for each chunk: they would leave the caches.
constexpr std::int64_t kLargeSums = 1 << 17;
// Rows whose panels lie together: longer sums in registers, fewer visits to G.
constexpr std::int64_t kGroupTiles = 2, kGroupRows = kGroupTiles * kTileRows;
constexpr std::int64_t kBlockTiles = 4 * kGroupTiles;  // between two additions to large sums
constexpr std::int64_t kLeftRange = 192, kRightRange = 512;

std::int64_t tiles_of(std::int64_t rows) { return (rows + kTileRows - 1) / kTileRows; }

std::int64_t panels_size(std::span<const std::int64_t> widths, std::int64_t panel_rows) {
  std::int64_t size = 0;
  for (const std::int64_t width : widths) size += panels_of(width) * kPanel * panel_rows;
  return size;
}

std::vector<float*> panel_places(std::span<const std::int64_t> widths, float* at,
                                 std::int64_t panel_rows) {
  std::vector<float*> places;
  for (const std::int64_t width : widths) {
    places.push_back(at);
    at += panels_of(width) * kPanel * panel_rows;
  }
  return places;
}

void copy_rows(std::int64_t rows, std::int64_t width, ConstRows from, Rows to) {
  const auto bytes = static_cast<std::size_t>(width) * sizeof(float);
  for (std::int64_t r = 0; r < rows; ++r) std::memcpy(to.row(r), from.row(r), bytes);
}

// Each chunk of rows has sums of its own, which are added in the order of chunks.
void by_chunks(std::int64_t rows, std::span<const std::int64_t> right_widths,
               std::int64_t space_size, std::span<const OuterSum> sums, std::int64_t total,
               const TileWork& work) {
  const std::int64_t tiles = tiles_of(rows), chunks = std::min(tiles, kMostChunks);
  std::vector<std::int64_t> places;  // of each sum in a chunk's part
  std::int64_t place = 0;
  for (const OuterSum& sum : sums) {
    places.push_back(place);
    if (sum.sum != nullptr) place += sum.left * sum.right;
  }
  Scratch parts(chunks * total);
  parallel_for(static_cast<std::size_t>(chunks), [&](std::size_t chunk) {
    const auto c = static_cast<std::int64_t>(chunk);
    const std::int64_t begin = c * tiles / chunks, end = (c + 1) * tiles / chunks;
    Scratch space(space_size), panels(panels_size(right_widths, kTileRows));
    OuterTile tile;
    tile.space = space.data();
    tile.panels = panel_places(right_widths, panels.data(), kTileRows);
    tile.panel_rows = kTileRows;
    tile.add = [&](std::size_t j, ConstRows left, std::size_t right) {
      if (sums[j].sum == nullptr) return;
      float* part = parts.data() + c * total + places[j];
      gemm_tn_tile({tile.rows,
                    sums[j].left,
                    sums[j].right,
                    left,
                    tile.panels[right],
                    kTileRows,
                    {part, sums[j].right},
                    tile.first > begin * kTileRows});
    };
    for (std::int64_t t = begin; t < end; ++t) {
      tile.first = t * kTileRows;
      tile.rows = std::min(kTileRows, rows - tile.first);
      tile.next = t + 1 < end ? std::min(kTileRows, rows - tile.first - tile.rows) : 0;
      work(tile);
    }
  });
  float* part = parts.data();
  for (const OuterSum& sum : sums) {
    if (sum.sum == nullptr) continue;
    const std::int64_t size = sum.left * sum.right, step = 1 << 14;
    parallel_for(static_cast<std::size_t>((size + step - 1) / step), [&](std::size_t block) {
      const std::int64_t first = static_cast<std::int64_t>(block) * step;
      sum_parts(std::min(step, size - first), chunks, total, part + first, sum.sum + first);
    });
    part += size;
  }
}

// Blocks of tiles: first all tiles' work, then each thread adds the block to its part of the sums.
void by_parts_of_sums(std::int64_t rows, std::span<const std::int64_t> right_widths,
                      std::int64_t space_size, std::span<const OuterSum> sums,
                      const TileWork& work) {
  struct Operands {
    ConstRows left;
    std::size_t right = 0;
  };
  struct Part {
    std::size_t sum;
    std::int64_t left, right;
  };
  std::vector<Part> parts;
  for (std::size_t j = 0; j < sums.size(); ++j) {
    if (sums[j].sum == nullptr) continue;
    for (std::int64_t left = 0; left < sums[j].left; left += kLeftRange) {
      for (std::int64_t right = 0; right < sums[j].right; right += kRightRange)
        parts.push_back({j, left, right});
    }
  }
  const std::int64_t tiles = tiles_of(rows);
  space_size = (space_size + 15) / 16 * 16;
  Scratch spaces(std::min(tiles, kBlockTiles) * space_size);
  const std::int64_t group_size = panels_size(right_widths, kGroupRows);
  Scratch panels(kBlockTiles / kGroupTiles * group_size);
  std::vector<Operands> operands(static_cast<std::size_t>(kBlockTiles) * sums.size());
  for (std::int64_t begin = 0; begin < tiles; begin += kBlockTiles) {
    const std::int64_t end = std::min(tiles, begin + kBlockTiles);
    parallel_for(static_cast<std::size_t>(end - begin), [&](std::size_t item) {
      const auto t = static_cast<std::int64_t>(item);
      OuterTile tile;
      tile.first = (begin + t) * kTileRows;
      tile.rows = std::min(kTileRows, rows - tile.first);
      tile.space = spaces.data() + t * space_size;
      tile.keep = true;
      tile.panels =
          panel_places(right_widths, panels.data() + t / kGroupTiles * group_size, kGroupRows);
      for (float*& place : tile.panels) place += t % kGroupTiles * kTileRows * kPanel;
      tile.panel_rows = kGroupRows;
      tile.add = [&](std::size_t j, ConstRows left, std::size_t right) {
        operands[item * sums.size() + j] = {left, right};
      };
      work(tile);
    });
    parallel_for(parts.size(), [&](std::size_t p) {
      const Part& part = parts[p];
      const OuterSum& sum = sums[part.sum];
      const Rows g = Rows{sum.sum, sum.right}.from(part.left, part.right);
      const std::int64_t left_width = std::min(kLeftRange, sum.left - part.left);
      // Operands come from afar: rows of L are copied beside each other once for all panels of R.
      Scratch near(kGroupRows * good_stride(kLeftRange));
      const Rows left = {near.data(), good_stride(kLeftRange)};
      for (std::int64_t group = begin; group < end; group += kGroupTiles) {
        std::int64_t count = 0;
        std::size_t right = 0;
        for (std::int64_t t = group; t < std::min(end, group + kGroupTiles); ++t) {
          const std::int64_t tile_rows = std::min(kTileRows, rows - t * kTileRows);
          const Operands& here =
              operands[static_cast<std::size_t>(t - begin) * sums.size() + part.sum];
          copy_rows(tile_rows, left_width, here.left.from(0, part.left), left.from(count));
          count += tile_rows;
          right = here.right;
        }
        TileOuter outer;
        outer.rows = count;
        outer.left_width = left_width;
        outer.right_width = std::min(kRightRange, sum.right - part.right);
        outer.left = left;
        outer.panels =
            panel_places(right_widths, panels.data() + (group - begin) / kGroupTiles * group_size,
                         kGroupRows)[right] +
            part.right * kGroupRows;
        outer.panel_rows = kGroupRows;
        outer.g = g;
        outer.add = group > 0;
        gemm_tn_tile(outer);
      }
    });
  }
}

}  // namespace

void sum_outer_products(std::int64_t rows, std::span<const std::int64_t> right_widths,
                        std::int64_t space_size, std::span<const OuterSum> sums,
                        const TileWork& work) {
  std::int64_t total = 0;
  for (const OuterSum& sum : sums) {
    if (sum.sum == nullptr) continue;
    total += sum.left * sum.right;
    if (rows == 0) std::fill(sum.sum, sum.sum + sum.left * sum.right, 0.0F);
  }
  if (rows == 0) return;
  if (total > kLargeSums) {
    by_parts_of_sums(rows, right_widths, space_size, sums, work);
  } else {
    by_chunks(rows, right_widths, space_size, sums, total, work);
  }
}

LeftColumns::LeftColumns(std::int64_t width, std::int64_t stride)
    : width_(width), block_(width), copy_(stride % 128 == 0 || stride > 2 * kColumnBlock) {
  if (copy_) block_ = std::min(width, kColumnBlock);
}

void LeftColumns::add_sums(std::int64_t right, float* sum, std::vector<OuterSum>& sums) const {
  for (std::int64_t column = 0; column < width_; column += block_) {
    sums.push_back({std::min(block_, width_ - column), right, sum});
    if (sum != nullptr) sum += block_ * right;
  }
}

std::int64_t LeftColumns::space_size() const { return copy_ ? kTileRows * good_stride(block_) : 0; }

void LeftColumns::add(const OuterTile& tile, ConstRows x, float* space) const {
  for (std::int64_t column = 0; column < width_; column += block_) {
    const std::int64_t b = column / block_;
    ConstRows left = x.from(0, column);
    if (copy_ && !tile.keep) {
      const Rows copy = {space, good_stride(block_)};
      copy_rows(tile.rows, std::min(block_, width_ - column), left, copy);
      left = copy;
    }
    tile.add(static_cast<std::size_t>(b), left, 0);
  }
}

void for_row_tiles(
    std::int64_t rows,
    const std::function<void(std::int64_t first, std::int64_t count, std::int64_t next)>& work) {
  const std::int64_t tiles = tiles_of(rows), run = tiles >= 128 ? 4 : 1;
  parallel_for(static_cast<std::size_t>((tiles + run - 1) / run), [&](std::size_t item) {
    const std::int64_t begin = static_cast<std::int64_t>(item) * run * kTileRows;
    const std::int64_t end = std::min(rows, begin + run * kTileRows);
    for (std::int64_t first = begin; first < end; first += kTileRows) {
      const std::int64_t count = std::min(kTileRows, end - first);
      work(first, count, std::min(kTileRows, end - first - count));
    }
  });
}

}  // namespace shellgame
