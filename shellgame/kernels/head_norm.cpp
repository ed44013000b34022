#include "shellgame/kernels/head_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "shellgame/kernels/head_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <cstddef>

#include "shellgame/kernels/conv_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {

// The sum of a o b, for rows that need not be aligned or padded.
HWY_INLINE float dot_head(std::size_t width, const float* a, const float* b) {
  const FloatTag d;
  FloatVector sum = hn::Zero(d);
  for (std::size_t j = 0; j < width; j += hn::Lanes(d))
    sum = hn::MulAdd(load_part(a + j, width - j), load_part(b + j, width - j), sum);
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void L2NormForwardRow(const HeadSizes& sizes, const RowView<const float>& x, float eps,
                      const RowView<float>& y, std::size_t row) {
  const FloatTag d;
  for (std::size_t h = 0; h < sizes.heads; ++h) {
    const float* from = x.row(row) + h * sizes.width;
    float* to = y.row(row) + h * sizes.width;
    const FloatVector norm = hn::Set(d, 1.0f / std::sqrt(dot_head(sizes.width, from, from) + eps));
    for (std::size_t j = 0; j < sizes.width; j += hn::Lanes(d))
      store_part(hn::Mul(norm, load_part(from + j, sizes.width - j)), to + j, sizes.width - j);
  }
}

void L2NormBackwardRow(const HeadSizes& sizes, const RowView<const float>& x, float eps,
                       const RowView<const float>& dy, const RowView<float>& dx, std::size_t row) {
  const FloatTag d;
  for (std::size_t h = 0; h < sizes.heads; ++h) {
    const float* from = x.row(row) + h * sizes.width;
    const float* gradient = dy.row(row) + h * sizes.width;
    float* to = dx.row(row) + h * sizes.width;
    const float sum = dot_head(sizes.width, from, from) + eps;
    const FloatVector norm = hn::Set(d, 1.0f / std::sqrt(sum));
    const FloatVector along = hn::Set(d, dot_head(sizes.width, from, gradient) / sum);
    for (std::size_t j = 0; j < sizes.width; j += hn::Lanes(d)) {
      const std::size_t n = sizes.width - j;
      const FloatVector part =
          hn::NegMulAdd(along, load_part(from + j, n), load_part(gradient + j, n));
      store_part(hn::Mul(norm, part), to + j, n);
    }
  }
}

HWY_INLINE FloatVector gate_of(const GatedNormInput<float>& in, const float* gate, std::size_t n,
                               FloatVector& derivative) {
  const FloatVector x = load_part(gate, n);
  return in.activation == GateActivation::kSilu ? Silu::value(x, derivative)
                                                : Sigmoid::value(x, derivative);
}

void GatedNormForwardRow(const HeadSizes& sizes, const GatedNormInput<float>& in,
                         const RowView<float>& y, std::size_t row) {
  const FloatTag d;
  const std::size_t width = sizes.width;
  for (std::size_t h = 0; h < sizes.heads; ++h) {
    const float* x = in.x.row(row) + h * width;
    const float mean = dot_head(width, x, x) / static_cast<float>(width);
    const FloatVector norm = hn::Set(d, 1.0f / std::sqrt(mean + in.eps));
    for (std::size_t j = 0; j < width; j += hn::Lanes(d)) {
      const std::size_t n = width - j;
      FloatVector value = hn::Mul(norm, load_part(x + j, n)), derivative;
      if (in.weight) value = hn::Mul(value, load_part(in.weight + j, n));
      if (in.gate)
        value = hn::Mul(value, gate_of(in, in.gate.row(row) + h * width + j, n, derivative));
      store_part(value, y.row(row) + h * width + j, n);
    }
  }
}

// dweight [width] is added to.
void GatedNormBackwardRow(const HeadSizes& sizes, const GatedNormInput<float>& in,
                          const GatedNormGradients<float>& gradients, float* dweight,
                          std::size_t row) {
  const FloatTag d;
  const std::size_t width = sizes.width;
  for (std::size_t h = 0; h < sizes.heads; ++h) {
    const float* x = in.x.row(row) + h * width;
    const float mean = dot_head(width, x, x) / static_cast<float>(width);
    const FloatVector norm = hn::Set(d, 1.0f / std::sqrt(mean + in.eps));
    // The gradient of x over its norm, twice: first for what all values share.
    FloatVector shared = hn::Zero(d);
    for (const bool last : {false, true}) {
      if (last)
        shared = hn::Set(d, hn::GetLane(hn::SumOfLanes(d, shared)) / static_cast<float>(width));
      for (std::size_t j = 0; j < width; j += hn::Lanes(d)) {
        const std::size_t n = width - j, place = h * width + j;
        const FloatVector normed = hn::Mul(norm, load_part(x + j, n));
        const FloatVector weight = in.weight ? load_part(in.weight + j, n) : hn::Set(d, 1.0f);
        FloatVector dy = load_part(gradients.dy.row(row) + place, n), derivative;
        if (in.gate) {
          const FloatVector gate = gate_of(in, in.gate.row(row) + place, n, derivative);
          if (!last && gradients.dgate)
            store_part(hn::Mul(hn::Mul(dy, derivative), hn::Mul(normed, weight)),
                       gradients.dgate.row(row) + place, n);
          dy = hn::Mul(dy, gate);
        }
        if (!last) {
          store_part(hn::MulAdd(dy, normed, load_part(dweight + j, n)), dweight + j, n);
          shared = hn::MulAdd(hn::Mul(dy, weight), normed, shared);
        } else if (gradients.dx) {
          const FloatVector dx = hn::NegMulAdd(normed, shared, hn::Mul(dy, weight));
          store_part(hn::Mul(norm, dx), gradients.dx.row(row) + place, n);
        }
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <vector>

#include "shellgame/kernels/share_work.h"
#include "shellgame/text/error.h"

namespace shellgame {

HWY_EXPORT(L2NormForwardRow);
HWY_EXPORT(L2NormBackwardRow);
HWY_EXPORT(GatedNormForwardRow);
HWY_EXPORT(GatedNormBackwardRow);

namespace {

// Sums over rows are taken block by block, so that they do not depend on the number of threads.
constexpr std::size_t kBlockRows = 128;

template <class Work>
void for_row_blocks(const HeadSizes& sizes, const Work& work) {
  const std::size_t rows = sizes.rows;
  const double all = 8.0 * static_cast<double>(rows * sizes.heads * sizes.width);
  share_work((rows + kBlockRows - 1) / kBlockRows, all, [&](std::size_t block) {
    const std::size_t end = std::min(rows, (block + 1) * kBlockRows);
    for (std::size_t row = block * kBlockRows; row < end; ++row) work(block, row);
  });
}

void check(const HeadSizes& sizes, bool given) {
  if (sizes.rows == 0 || sizes.heads == 0 || sizes.width == 0)
    wrong_use("A norm over heads must have sizes of at least 1, not rows={} heads={} width={}.",
              sizes.rows, sizes.heads, sizes.width);
  if (!given) wrong_use("A norm over heads must be given x, and a place for its result.");
}

}  // namespace

void l2_norm_forward(const HeadSizes& sizes, RowView<const float> x, float eps, RowView<float> y) {
  check(sizes, x && y);
  for_row_blocks(sizes, [&](std::size_t, std::size_t row) {
    HWY_DYNAMIC_DISPATCH(L2NormForwardRow)(sizes, x, eps, y, row);
  });
}

void l2_norm_backward(const HeadSizes& sizes, RowView<const float> x, float eps,
                      RowView<const float> dy, RowView<float> dx) {
  check(sizes, x && dy && dx);
  for_row_blocks(sizes, [&](std::size_t, std::size_t row) {
    HWY_DYNAMIC_DISPATCH(L2NormBackwardRow)(sizes, x, eps, dy, dx, row);
  });
}

void gated_norm_forward(const HeadSizes& sizes, const GatedNormInput<float>& input,
                        RowView<float> y) {
  check(sizes, input.x && y);
  for_row_blocks(sizes, [&](std::size_t, std::size_t row) {
    HWY_DYNAMIC_DISPATCH(GatedNormForwardRow)(sizes, input, y, row);
  });
}

void gated_norm_backward(const HeadSizes& sizes, const GatedNormInput<float>& input,
                         const GatedNormGradients<float>& gradients) {
  check(sizes, input.x && gradients.dy);
  const std::size_t blocks = (sizes.rows + kBlockRows - 1) / kBlockRows, width = sizes.width;
  std::vector<float> sums(blocks * width);
  for_row_blocks(sizes, [&](std::size_t block, std::size_t row) {
    HWY_DYNAMIC_DISPATCH(GatedNormBackwardRow)
    (sizes, input, gradients, sums.data() + block * width, row);
  });
  if (!gradients.dweight) return;
  std::fill_n(gradients.dweight, width, 0.0f);
  for (std::size_t block = 0; block < blocks; ++block)
    for (std::size_t j = 0; j < width; ++j) gradients.dweight[j] += sums[block * width + j];
}

}  // namespace shellgame
#endif
