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
constexpr std::int64_t kLargeSums = 1 << 18;
constexpr std::int64_t kBlockTiles = 16;  // tiles between two additions to large sums
constexpr std::int64_t kLeftRange = 96, kRightRange = 256;

std::int64_t tiles_of(std::int64_t rows) { return (rows + kTileRows - 1) / kTileRows; }

void add_tile(const OuterSum& sum, const OuterOperands& operands, std::int64_t rows, Rows g,
              bool add) {
  gemm_tn_tile({rows, sum.left, sum.right, operands.left, operands.panels, g, add});
}

// Each chunk of rows has sums of its own, which are added in the order of chunks.
void by_chunks(std::int64_t rows, std::int64_t space_size, std::span<const OuterSum> sums,
               std::int64_t total, const TileWork& work) {
  const std::int64_t tiles = tiles_of(rows), chunks = std::min(tiles, kMostChunks);
  Scratch parts(chunks * total);
  parallel_for(static_cast<std::size_t>(chunks), [&](std::size_t chunk) {
    const auto c = static_cast<std::int64_t>(chunk);
    const std::int64_t begin = c * tiles / chunks, end = (c + 1) * tiles / chunks;
    Scratch space(space_size);
    std::vector<OuterOperands> operands(sums.size());
    for (std::int64_t tile = begin; tile < end; ++tile) {
      const std::int64_t first = tile * kTileRows, count = std::min(kTileRows, rows - first);
      work(first, count, space.data(), operands.data());
      float* part = parts.data() + c * total;
      for (std::size_t j = 0; j < sums.size(); ++j) {
        if (sums[j].sum == nullptr) continue;
        add_tile(sums[j], operands[j], count, {part, sums[j].right}, tile > begin);
        part += sums[j].left * sums[j].right;
      }
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
void by_parts_of_sums(std::int64_t rows, std::int64_t space_size, std::span<const OuterSum> sums,
                      const TileWork& work) {
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
  std::vector<OuterOperands> operands(static_cast<std::size_t>(kBlockTiles) * sums.size());
  for (std::int64_t begin = 0; begin < tiles; begin += kBlockTiles) {
    const std::int64_t end = std::min(tiles, begin + kBlockTiles);
    parallel_for(static_cast<std::size_t>(end - begin), [&](std::size_t t) {
      const std::int64_t first = (begin + static_cast<std::int64_t>(t)) * kTileRows;
      work(first, std::min(kTileRows, rows - first),
           spaces.data() + static_cast<std::int64_t>(t) * space_size,
           operands.data() + t * sums.size());
    });
    parallel_for(parts.size(), [&](std::size_t p) {
      const Part& part = parts[p];
      const OuterSum& sum = sums[part.sum];
      const OuterSum range = {std::min(kLeftRange, sum.left - part.left),
                              std::min(kRightRange, sum.right - part.right), sum.sum};
      const Rows g = Rows{sum.sum, sum.right}.from(part.left, part.right);
      for (std::int64_t tile = begin; tile < end; ++tile) {
        const std::int64_t count = std::min(kTileRows, rows - tile * kTileRows);
        OuterOperands here =
            operands[static_cast<std::size_t>(tile - begin) * sums.size() + part.sum];
        here.left = here.left.from(0, part.left);
        here.panels += part.right * count;
        add_tile(range, here, count, g, tile > 0);
      }
    });
  }
}

}  // namespace

void sum_outer_products(std::int64_t rows, std::int64_t space_size, std::span<const OuterSum> sums,
                        const TileWork& work) {
  std::int64_t total = 0;
  for (const OuterSum& sum : sums) {
    if (sum.sum == nullptr) continue;
    total += sum.left * sum.right;
    if (rows == 0) std::fill(sum.sum, sum.sum + sum.left * sum.right, 0.0F);
  }
  if (rows == 0) return;
  if (total > kLargeSums) {
    by_parts_of_sums(rows, space_size, sums, work);
  } else {
    by_chunks(rows, space_size, sums, total, work);
  }
}

void for_row_tiles(std::int64_t rows,
                   const std::function<void(std::int64_t first, std::int64_t count)>& work) {
  parallel_for(static_cast<std::size_t>(tiles_of(rows)), [&](std::size_t tile) {
    const std::int64_t first = static_cast<std::int64_t>(tile) * kTileRows;
    work(first, std::min(kTileRows, rows - first));
  });
}

ConstRows readable_columns(std::int64_t rows, std::int64_t width, ConstRows x, float* space) {
  if (x.stride % 128 != 0) return x;
  const Rows copy = {space, good_stride(width)};
  for (std::int64_t r = 0; r < rows; ++r)
    std::memcpy(copy.row(r), x.row(r), static_cast<std::size_t>(width) * sizeof(float));
  return copy;
}

}  // namespace shellgame
