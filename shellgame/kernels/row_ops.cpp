#include "shellgame/kernels/row_ops.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "shellgame/kernels/outer_sums.h"
#include "shellgame/kernels/row_tiles.h"
#include "shellgame/system/threads.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr std::int64_t kMostChunks = 16;
constexpr std::int64_t kSegment = 512;  // rows of one id that are summed by one thread

}  // namespace

void rms_norm(std::int64_t rows, std::int64_t width, ConstRows x, const float* weight, float eps,
              Rows y, float* rstd) {
  for_row_tiles(rows, [&](std::int64_t first, std::int64_t count, std::int64_t) {
    rstd_tile(count, width, x.from(first), eps, rstd + first);
    normalise_tile(count, width, x.from(first), weight, rstd + first, y.from(first));
  });
}

void rms_norm_backward(std::int64_t rows, std::int64_t width, ConstRows x, const float* weight,
                       const float* rstd, ConstRows dy, ConstRows d_residual, Rows dx,
                       float* d_weight) {
  const std::int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  const std::int64_t chunks = std::min(tiles, kMostChunks);
  Scratch parts(chunks * width);
  std::fill(parts.data(), parts.data() + parts.size(), 0.0F);
  const std::vector<float> ones(static_cast<std::size_t>(kTileRows), 1.0F);
  parallel_for(static_cast<std::size_t>(chunks), [&](std::size_t chunk) {
    const auto c = static_cast<std::int64_t>(chunk);
    Scratch space(kTileRows * width);
    for (std::int64_t tile = c * tiles / chunks; tile < (c + 1) * tiles / chunks; ++tile) {
      const std::int64_t first = tile * kTileRows, count = std::min(kTileRows, rows - first);
      if (d_weight != nullptr)
        add_products_tile(count, width, dy.from(first), x.from(first), rstd + first,
                          parts.data() + c * width);
      if (dx.data == nullptr) continue;
      const Rows g = {space.data(), width};
      normalise_tile(count, width, dy.from(first), weight, ones.data(), g);
      norm_backward_tile(count, width, x.from(first), rstd + first, g,
                         d_residual.data ? d_residual.from(first) : d_residual, dx.from(first));
    }
  });
  if (d_weight == nullptr) return;
  if (chunks == 0) {
    std::fill(d_weight, d_weight + width, 0.0F);
  } else {
    sum_parts(width, chunks, width, parts.data(), d_weight);
  }
}

RopeTable::RopeTable(std::int64_t first, std::int64_t positions, std::int64_t head_width,
                     double base)
    : half_(head_width / 2),
      first_(first),
      positions_(positions),
      cosines_(positions * half_),
      sines_(positions * half_) {
  if (head_width % 2 != 0 || head_width <= 0)
    wrong_use("rope needs heads of an even width, not {}", head_width);
  std::vector<double> frequencies(static_cast<std::size_t>(half_));
  for (std::int64_t i = 0; i < half_; ++i)
    frequencies[static_cast<std::size_t>(i)] =
        std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(head_width));
  parallel_for(static_cast<std::size_t>((positions + 63) / 64), [&](std::size_t block) {
    const std::int64_t begin = static_cast<std::int64_t>(block) * 64;
    for (std::int64_t p = begin; p < std::min(positions, begin + 64); ++p) {
      for (std::int64_t i = 0; i < half_; ++i) {
        const double angle =
            static_cast<double>(first + p) * frequencies[static_cast<std::size_t>(i)];
        cosines_.data()[p * half_ + i] = static_cast<float>(std::cos(angle));
        sines_.data()[p * half_ + i] = static_cast<float>(std::sin(angle));
      }
    }
  });
}

namespace {

void rotate(const RopeTable& table, const RopeShape& shape, ConstRows x, Rows y, bool back) {
  const std::int64_t half = table.half(), width = 2 * half;
  const std::int64_t last = shape.offset + std::min(shape.rows, shape.time);
  if (shape.offset < table.first() || last > table.end())
    wrong_use("rope's table has the positions from {} to {}, but those from {} to {} are asked for",
              table.first(), table.end() - 1, shape.offset, last - 1);
  for_row_tiles(shape.rows, [&](std::int64_t first, std::int64_t count, std::int64_t) {
    for (std::int64_t r = first; r < first + count; ++r) {
      const std::int64_t position = shape.offset + r % shape.time;
      for (std::int64_t h = 0; h < shape.heads; ++h)
        rotate_row(half, x.row(r) + h * width, table.cosines(position), table.sines(position),
                   back ? -1.0F : 1.0F, y.row(r) + h * width);
    }
  });
}

}  // namespace

void rope(const RopeTable& table, const RopeShape& shape, ConstRows x, Rows y) {
  rotate(table, shape, x, y, false);
}
void rope_backward(const RopeTable& table, const RopeShape& shape, ConstRows dy, Rows dx) {
  rotate(table, shape, dy, dx, true);
}

void embedding_gradient(std::int64_t rows, std::int64_t width, std::int64_t vocabulary,
                        const std::int64_t* ids, ConstRows dy, float* d_table) {
  // Rows sorted by id, in their order; then segments of one id each.
  std::vector<std::int64_t> ends(static_cast<std::size_t>(vocabulary) + 1);
  for (std::int64_t r = 0; r < rows; ++r) {
    if (ids[r] < 0 || ids[r] >= vocabulary)
      wrong_use("an id must be below the vocabulary's size of {}, but row {} has {}", vocabulary, r,
                ids[r]);
    ++ends[static_cast<std::size_t>(ids[r]) + 1];
  }
  for (std::size_t id = 1; id < ends.size(); ++id) ends[id] += ends[id - 1];
  std::vector<std::int64_t> sorted(static_cast<std::size_t>(rows));
  std::vector<std::int64_t> places(ends.begin(), ends.end() - 1);
  for (std::int64_t r = 0; r < rows; ++r)
    sorted[static_cast<std::size_t>(places[static_cast<std::size_t>(ids[r])]++)] = r;

  struct Segment {
    std::int64_t id, begin, end;
    float* to;
  };
  std::vector<Segment> segments;
  std::int64_t extra = 0;
  for (std::int64_t id = 0; id < vocabulary; ++id) {
    const std::int64_t begin = ends[static_cast<std::size_t>(id)];
    const std::int64_t end = ends[static_cast<std::size_t>(id) + 1];
    for (std::int64_t at = begin; at < end; at += kSegment) {
      segments.push_back({id, at, std::min(end, at + kSegment), nullptr});
      extra += at > begin;
    }
  }
  // The first segment of an id goes into the table, later ones beside it.
  Scratch beside(extra * width);
  extra = 0;
  for (std::size_t s = 0; s < segments.size(); ++s) {
    const bool later = s > 0 && segments[s - 1].id == segments[s].id;
    segments[s].to = later ? beside.data() + width * extra++ : d_table + segments[s].id * width;
  }
  constexpr std::int64_t kClear = 4096;
  parallel_for(static_cast<std::size_t>((vocabulary + kClear - 1) / kClear), [&](std::size_t b) {
    const std::int64_t first = static_cast<std::int64_t>(b) * kClear;
    for (std::int64_t id = first; id < std::min(vocabulary, first + kClear); ++id) {
      if (ends[static_cast<std::size_t>(id)] == ends[static_cast<std::size_t>(id) + 1])
        std::fill(d_table + id * width, d_table + (id + 1) * width, 0.0F);
    }
  });
  parallel_for(segments.size(), [&](std::size_t s) {
    const Segment& segment = segments[s];
    sum_rows(segment.end - segment.begin, width, sorted.data() + segment.begin, dy, segment.to);
  });
  for (std::size_t s = 1; s < segments.size(); ++s) {
    if (segments[s].id != segments[s - 1].id) continue;
    float* to = d_table + segments[s].id * width;
    for (std::int64_t j = 0; j < width; ++j) to[j] += segments[s].to[j];
  }
}

}  // namespace shellgame
