// Matrix products of many rows by a weight. The weight is packed once into panels of 16 columns;
// the rows are read where they lie. All results are the same bits for any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shellgame/kernels/scratch.h"

namespace shellgame {

// A matrix [rows, width] whose row r starts at data + r * stride.
template <class T>
struct RowsOf {
  T* data = nullptr;
  std::int64_t stride = 0;

  T* row(std::int64_t r) const { return data + r * stride; }
  RowsOf from(std::int64_t r, std::int64_t column = 0) const { return {row(r) + column, stride}; }
  operator RowsOf<const T>() const { return {data, stride}; }
};
using Rows = RowsOf<float>;
using ConstRows = RowsOf<const float>;

// A linear map's weight [out, in] (row-major, contiguous), as Torch keeps it.
struct Weight {
  const float* data = nullptr;
  std::int64_t out = 0;
};

// The right operand B [depth, width] of a product, in panels: panel p holds columns 16p .. 16p + 15
// of all depths, [depth][16], zeros beyond the width.
class PackedMatrix {
 public:
  // B = [W1; W2; ...]^T, [in, sum of out]: for y = x W^T. With `scale` [in], row i of B times
  // scale[i].
  static PackedMatrix transposed(std::span<const Weight> weights, std::int64_t in,
                                 const float* scale = nullptr);
  // B = [W1; W2; ...], [sum of out, in]: for dx = dy W. With `scale` [in], column i times scale[i].
  static PackedMatrix plain(std::span<const Weight> weights, std::int64_t in,
                            const float* scale = nullptr);

  std::int64_t depth() const { return depth_; }
  std::int64_t width() const { return width_; }
  const float* data() const { return values_.data(); }

 private:
  PackedMatrix(std::int64_t depth, std::int64_t width);

  std::int64_t depth_, width_;
  Scratch values_;
};

// C [rows, width] = A [rows, depth] B, or C += A B.
void gemm(std::int64_t rows, ConstRows a, const PackedMatrix& b, Rows c, bool add = false);

// G [left_width, right_width] (contiguous) = L^T R over rows, or G += L^T R: a weight's gradient.
void gemm_tn(std::int64_t rows, ConstRows left, std::int64_t left_width, ConstRows right,
             std::int64_t right_width, float* g, bool add = false);

}  // namespace shellgame
