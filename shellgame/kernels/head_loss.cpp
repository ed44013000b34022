#include "shellgame/kernels/head_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "shellgame/kernels/gemm_tiles.h"
#include "shellgame/kernels/norm_gradients.h"
#include "shellgame/kernels/outer_sums.h"
#include "shellgame/kernels/row_tiles.h"
#include "shellgame/system/threads.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr std::int64_t kSmallHead = 1 << 18;  // floats of a head that stays in the caches
constexpr std::int64_t kLogits = 1 << 26;     // floats of logits kept at a time for a large head
constexpr std::int64_t kGroup = 512;          // columns of a large head that are packed at a time
constexpr std::int64_t kItems = 16;           // parts of a large head with a dx of their own

struct RowSum {
  float largest = 0, sum = 0;  // of exp(logit - largest)
};

class Sweep {
 public:
  Sweep(const HeadLossInputs& in, const HeadLossOutputs& out) : in_(in), out_(out) {
    for (std::int64_t r = 0; r < in.rows; ++r) {
      if (in.targets[r] >= in.vocabulary) {
        wrong_use("a target must be below the vocabulary's size of {}, but row {} has {}",
                  in.vocabulary, r, in.targets[r]);
      }
      if (in.targets[r] >= 0) counted_.push_back(r);
    }
    count_ = static_cast<std::int64_t>(counted_.size());
    factor_ = in.sum == LossSum::kSum || count_ == 0 ? 1.0 : 1.0 / static_cast<double>(count_);
    losses_.resize(counted_.size());
    right_.resize(counted_.size());
    rstd_.resize(counted_.size(), 1.0F);
    wants_gradients_ = out.dx.data || out.d_head || out.d_norm_weight;
  }

  HeadLoss run() {
    clear_uncounted();
    // The norm's gradient is made from the head's.
    const bool wants_weights = out_.d_head != nullptr || out_.d_norm_weight != nullptr;
    Scratch sum(wants_weights && out_.d_head == nullptr ? in_.vocabulary * in_.width : 0);
    float* const made = out_.d_head == nullptr ? sum.data() : out_.d_head;
    float* const d_head = wants_weights ? made : nullptr;
    if (in_.vocabulary * in_.width <= kSmallHead) {
      small(d_head);
    } else {
      large(d_head);
    }
    if (wants_weights) {
      const Weight head = {in_.head, in_.vocabulary};
      float* const into = out_.d_head;
      split_norm_gradient({&head, 1}, in_.width, in_.norm_weight, d_head, out_.d_norm_weight,
                          {&into, 1});
    }
    HeadLoss result;
    result.counted = count_;
    for (std::size_t i = 0; i < counted_.size(); ++i) {
      result.loss += losses_[i];
      result.right += right_[i];
      if (out_.row_loss) out_.row_loss[counted_[i]] = static_cast<float>(losses_[i]);
      if (out_.row_right) out_.row_right[counted_[i]] = right_[i];
    }
    result.loss *= factor_;
    return result;
  }

 private:
  void clear_uncounted() {
    for (std::int64_t r = 0; r < in_.rows; ++r) {
      if (in_.targets[r] >= 0) continue;
      if (out_.dx.data) std::fill(out_.dx.row(r), out_.dx.row(r) + in_.width, 0.0F);
      if (out_.row_loss) out_.row_loss[r] = 0;
      if (out_.row_right) out_.row_right[r] = 0;
    }
  }

  std::int64_t row(std::int64_t i) const { return counted_[static_cast<std::size_t>(i)]; }
  std::int64_t target(std::int64_t i) const { return in_.targets[row(i)]; }

  // The counted rows first .. first + rows, normalised (without the norm's weight), side by side.
  void gather(std::int64_t first, std::int64_t rows, Rows to) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const ConstRows x = in_.x.from(row(first + i));
      float& rstd = rstd_[static_cast<std::size_t>(first + i)];
      if (in_.norm_weight) rstd_tile(1, in_.width, x, in_.eps, &rstd);
      normalise_tile(1, in_.width, x, nullptr, &rstd, to.from(i));
    }
  }

  void keep_loss(std::int64_t i, float largest, float sum, float logit) {
    losses_[static_cast<std::size_t>(i)] = static_cast<double>(largest) -
                                           static_cast<double>(logit) +
                                           std::log(static_cast<double>(sum));
  }

  // g: the gradient of the normalised rows.
  void scatter_dx(std::int64_t first, std::int64_t rows, ConstRows g) {
    if (out_.dx.data == nullptr) return;
    for (std::int64_t i = 0; i < rows; ++i) {
      const Rows dx = out_.dx.from(row(first + i));
      if (in_.norm_weight == nullptr) {
        std::copy(g.row(i), g.row(i) + in_.width, dx.data);
      } else {
        norm_backward_tile(1, in_.width, in_.x.from(row(first + i)),
                           &rstd_[static_cast<std::size_t>(first + i)], g.from(i), {}, dx);
      }
    }
  }

  // Logits of counted row i -> their gradients. The row has room for whole panels.
  void small_row(std::int64_t i, float* row) {
    const std::int64_t padded = panels_of(in_.vocabulary) * kPanel;
    std::fill(row + in_.vocabulary, row + padded, -std::numeric_limits<float>::infinity());
    const float largest = row_max(padded, row), logit = row[target(i)];
    right_[static_cast<std::size_t>(i)] = is_first(row, 0, target(i), logit, largest);
    const float sum = exp_row(padded, largest, row);
    keep_loss(i, largest, sum, logit);
    if (!wants_gradients_) return;
    scale_row(padded, static_cast<float>(factor_) / sum, row);
    row[target(i)] -= static_cast<float>(factor_);
  }

  // Whether row[at], which is `logit`, is the first of the largest values in [begin, at].
  static bool is_first(const float* row, std::int64_t begin, std::int64_t at, float logit,
                       float largest) {
    return logit == largest && std::find(row + begin, row + at, largest) == row + at;
  }

  // All logits of a tile of rows are in the cache at once.
  void small(float* d_head) {
    const std::int64_t width = in_.width, vocabulary = in_.vocabulary;
    const Weight head = {in_.head, vocabulary};
    const PackedMatrix forward = PackedMatrix::transposed({&head, 1}, width, in_.norm_weight);
    const PackedMatrix back = PackedMatrix::plain({&head, 1}, width, in_.norm_weight);
    const std::int64_t x_stride = good_stride(width), p_stride = good_stride(vocabulary);
    const OuterSum outer = {vocabulary, width, d_head};
    sum_outer_products(count_, {&width, 1}, kTileRows * (x_stride + p_stride), {&outer, 1},
                       [&](const OuterTile& tile) {
                         const std::int64_t first = tile.first, rows = tile.rows;
                         const Rows x = {tile.space, x_stride};
                         const Rows p = {tile.space + kTileRows * x_stride, p_stride};
                         gather(first, rows, x);
                         gemm_tile(tile_product(rows, x, forward, p));
                         for (std::int64_t i = 0; i < rows; ++i) small_row(first + i, p.row(i));
                         if (!wants_gradients_) return;
                         if (d_head != nullptr)
                           pack_panels(rows, width, x, nullptr, tile.panels[0], tile.panel_rows);
                         if (out_.dx.data != nullptr) {
                           gemm_tile(tile_product(rows, p, back, x));
                           scatter_dx(first, rows, x);
                         }
                         tile.add(0, p, 0);
                       });
  }

  // Blocks of rows whose logits are kept, columns by groups: the maximum and the sum of each group
  // first, then the gradients. The head is read twice for each block.
  void large(float* d_head) {
    const std::int64_t p_stride = good_stride(in_.vocabulary);
    const std::int64_t most = std::max<std::int64_t>(1, kLogits / p_stride / kTileRows) * kTileRows;
    const std::int64_t block = std::min((count_ + kTileRows - 1) / kTileRows * kTileRows, most);
    Scratch logits(block * p_stride), x(block * good_stride(in_.width));
    if (count_ == 0 && d_head != nullptr)
      std::fill(d_head, d_head + in_.vocabulary * in_.width, 0.0F);
    for (std::int64_t first = 0; first < count_; first += block) {
      const std::int64_t rows = std::min(block, count_ - first);
      const Rows p = {logits.data(), p_stride}, n = {x.data(), good_stride(in_.width)};
      for_row_tiles(rows, [&](std::int64_t begin, std::int64_t tile_rows, std::int64_t) {
        gather(first + begin, tile_rows, n.from(begin));
      });
      const std::vector<RowSum> max = large_logits(first, rows, n, p);
      if (wants_gradients_) large_gradients(first, rows, n, p, max, d_head);
    }
  }

  std::vector<RowSum> large_logits(std::int64_t first, std::int64_t rows, ConstRows n, Rows p) {
    const std::int64_t groups = (in_.vocabulary + kGroup - 1) / kGroup;
    std::vector<RowSum> parts(static_cast<std::size_t>(groups * rows));
    const auto part = [&](std::int64_t group, std::int64_t i) -> RowSum& {
      return parts[static_cast<std::size_t>(group * rows + i)];
    };
    parallel_for(static_cast<std::size_t>(groups), [&](std::size_t which) {
      const auto group = static_cast<std::int64_t>(which);
      const std::int64_t column = group * kGroup;
      const Weight head = group_of(column);
      const PackedMatrix packed = PackedMatrix::transposed({&head, 1}, in_.width, in_.norm_weight);
      for (std::int64_t begin = 0; begin < rows; begin += kTileRows) {
        const std::int64_t tile_rows = std::min(kTileRows, rows - begin);
        gemm_tile(tile_product(tile_rows, n.from(begin), packed, p.from(begin, column)));
        for (std::int64_t i = begin; i < begin + tile_rows; ++i) {
          const float largest = row_max(head.out, p.row(i) + column);
          part(group, i) = {largest, exp_sum(head.out, largest, p.row(i) + column)};
        }
      }
    });
    std::vector<RowSum> whole(static_cast<std::size_t>(rows));
    for (std::int64_t i = 0; i < rows; ++i) {
      float largest = part(0, i).largest;
      for (std::int64_t group = 1; group < groups; ++group)
        largest = std::max(largest, part(group, i).largest);
      double sum = 0;
      for (std::int64_t group = 0; group < groups; ++group)
        sum += static_cast<double>(part(group, i).sum) *
               std::exp(static_cast<double>(part(group, i).largest) - static_cast<double>(largest));
      const std::int64_t at = target(first + i), group_at = at / kGroup;
      bool right = is_first(p.row(i), group_at * kGroup, at, p.row(i)[at], largest);
      for (std::int64_t group = 0; right && group < group_at; ++group)
        right = part(group, i).largest < largest;
      right_[static_cast<std::size_t>(first + i)] = right;
      whole[static_cast<std::size_t>(i)] = {largest, static_cast<float>(sum)};
      keep_loss(first + i, largest, static_cast<float>(sum), p.row(i)[at]);
    }
    return whole;
  }

  void large_gradients(std::int64_t first, std::int64_t rows, ConstRows n, Rows p,
                       const std::vector<RowSum>& max, float* d_head) {
    const std::int64_t width = in_.width, stride = panels_of(width) * kPanel;
    const std::int64_t groups = (in_.vocabulary + kGroup - 1) / kGroup;
    const std::int64_t items = std::min(groups, kItems);
    Scratch panels(rows * stride), parts(items * rows * stride);
    for_row_tiles(rows, [&](std::int64_t begin, std::int64_t tile_rows, std::int64_t) {
      pack_panels(tile_rows, width, n.from(begin), nullptr, panels.data() + begin * stride,
                  tile_rows);
    });
    parallel_for(static_cast<std::size_t>(items), [&](std::size_t which) {
      const auto item = static_cast<std::int64_t>(which);
      const Rows g = {parts.data() + item * rows * stride, stride};
      const std::int64_t begin_group = item * groups / items, end = (item + 1) * groups / items;
      for (std::int64_t group = begin_group; group < end; ++group) {
        const std::int64_t column = group * kGroup;
        const Weight head = group_of(column);
        const PackedMatrix packed = PackedMatrix::plain({&head, 1}, width, in_.norm_weight);
        for (std::int64_t begin = 0; begin < rows; begin += kTileRows) {
          const std::int64_t tile_rows = std::min(kTileRows, rows - begin);
          const Rows tile = p.from(begin, column);
          for (std::int64_t i = 0; i < tile_rows; ++i) {
            const RowSum& whole = max[static_cast<std::size_t>(begin + i)];
            softmax_row(head.out, whole.largest, static_cast<float>(factor_) / whole.sum,
                        tile.row(i));
            const std::int64_t at = target(first + begin + i) - column;
            if (at >= 0 && at < head.out) tile.row(i)[at] -= static_cast<float>(factor_);
          }
          if (out_.dx.data != nullptr) {
            TileProduct product = tile_product(tile_rows, tile, packed, g.from(begin));
            if (group > begin_group) product.base = product.c;
            gemm_tile(product);
          }
          if (d_head == nullptr) continue;
          gemm_tn_tile({tile_rows,
                        head.out,
                        width,
                        tile,
                        panels.data() + begin * stride,
                        tile_rows,
                        {d_head + column * width, width},
                        first > 0 || begin > 0});
        }
      }
    });
    if (out_.dx.data == nullptr) return;
    for_row_tiles(rows, [&](std::int64_t begin, std::int64_t tile_rows, std::int64_t) {
      const Rows g = {parts.data() + begin * stride, stride};
      sum_parts(tile_rows * stride, items, rows * stride, g.data, g.data);
      scatter_dx(first + begin, tile_rows, g);
    });
  }

  Weight group_of(std::int64_t column) const {
    return {in_.head + column * in_.width, std::min(kGroup, in_.vocabulary - column)};
  }

  const HeadLossInputs& in_;
  const HeadLossOutputs& out_;
  std::vector<std::int64_t> counted_;
  std::int64_t count_ = 0;
  double factor_ = 1;
  std::vector<double> losses_;
  std::vector<std::int8_t> right_;
  std::vector<float> rstd_;
  bool wants_gradients_ = false;
};

}  // namespace

HeadLoss head_loss(const HeadLossInputs& inputs, const HeadLossOutputs& outputs) {
  return Sweep(inputs, outputs).run();
}

}  // namespace shellgame
