// Products of small matrices that lie in the first- and second-level cache, for one Highway target.
// Rows of B and C are padded to whole vectors; A is read one element at a time, so that its
// transpose costs nothing. No include guard of the usual kind: each target includes it once.
#if defined(SHELLGAME_KERNELS_SMALL_MATRIX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHELLGAME_KERNELS_SMALL_MATRIX_INL_H_
#undef SHELLGAME_KERNELS_SMALL_MATRIX_INL_H_
#else
#define SHELLGAME_KERNELS_SMALL_MATRIX_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;

// What is done with the product.
enum class Store { kSet, kSetNegative, kAdd, kSubtract };
// Where A is zero, or what of C is wanted: kLowerA has A(i,p) = 0 for p > i, kUpperA for p < i;
// kLowerC leaves C(i,j) undefined for j > i.
enum class Shape { kFull, kLowerA, kUpperA, kLowerC };

// Element (i, p) of A is at data[i * row + p * column].
struct MatrixA {
  const float* data;
  std::size_t row, column;
};

// C[MR, NR vectors] from A[MR, begin..end) and B[begin..end, NR vectors].
template <Store kStore, int MR, int NR>
HWY_INLINE void multiply_tile(std::size_t begin, std::size_t end, MatrixA a,
                              const float* HWY_RESTRICT b, std::size_t b_row, float* HWY_RESTRICT c,
                              std::size_t c_row) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr bool kNegative = kStore == Store::kSetNegative || kStore == Store::kSubtract;
  FloatVector sum[MR][NR];
  for (int i = 0; i < MR; ++i)
    for (int j = 0; j < NR; ++j) {
      if constexpr (kStore == Store::kAdd || kStore == Store::kSubtract)
        sum[i][j] = hn::Load(
            d, c + static_cast<std::size_t>(i) * c_row + static_cast<std::size_t>(j) * lanes);
      else
        sum[i][j] = hn::Zero(d);
    }
  const float* HWY_RESTRICT a_place = a.data + begin * a.column;
  const float* HWY_RESTRICT b_place = b + begin * b_row;
  for (std::size_t p = begin; p < end; ++p) {
    FloatVector row[NR];
    for (int j = 0; j < NR; ++j)
      row[j] = hn::Load(d, b_place + static_cast<std::size_t>(j) * lanes);
    for (int i = 0; i < MR; ++i) {
      const FloatVector factor = hn::Set(d, a_place[static_cast<std::size_t>(i) * a.row]);
      for (int j = 0; j < NR; ++j)
        sum[i][j] = kNegative ? hn::NegMulAdd(factor, row[j], sum[i][j])
                              : hn::MulAdd(factor, row[j], sum[i][j]);
    }
    a_place += a.column;
    b_place += b_row;
  }
  for (int i = 0; i < MR; ++i)
    for (int j = 0; j < NR; ++j)
      hn::Store(sum[i][j], d,
                c + static_cast<std::size_t>(i) * c_row + static_cast<std::size_t>(j) * lanes);
}

template <Store kStore, Shape kShape, int MR, int NR>
HWY_INLINE void multiply_rows(std::size_t i, std::size_t depth, MatrixA a, const float* b,
                              std::size_t b_row, float* c, std::size_t c_row) {
  std::size_t begin = 0, end = depth;
  if (kShape == Shape::kLowerA) end = std::min(depth, i + MR);
  if (kShape == Shape::kUpperA) begin = i;
  a.data += i * a.row;
  multiply_tile<kStore, MR, NR>(begin, end, a, b, b_row, c + i * c_row, c_row);
}

template <Store kStore, Shape kShape, int NR>
HWY_INLINE void multiply_columns(std::size_t j, std::size_t rows, std::size_t depth, MatrixA a,
                                 const float* b, std::size_t b_row, float* c, std::size_t c_row) {
  std::size_t i = 0;
  b += j;
  c += j;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  // 32 registers: tiles of 8 rows.
  for (; i + 8 <= rows; i += 8)
    multiply_rows<kStore, kShape, 8, NR>(i, depth, a, b, b_row, c, c_row);
#else
  // 16 = 6 + 6 + 4, 32 = 4 * 6 + 2 * 4: tiles of 6 rows fill the registers, 4 are still enough to
  // hide the latency.
  for (; i + 6 <= rows && (rows - i) % 4 != 0; i += 6)
    multiply_rows<kStore, kShape, 6, NR>(i, depth, a, b, b_row, c, c_row);
  for (; i + 12 <= rows; i += 12) {
    multiply_rows<kStore, kShape, 6, NR>(i, depth, a, b, b_row, c, c_row);
    multiply_rows<kStore, kShape, 6, NR>(i + 6, depth, a, b, b_row, c, c_row);
  }
#endif
  for (; i + 4 <= rows; i += 4)
    multiply_rows<kStore, kShape, 4, NR>(i, depth, a, b, b_row, c, c_row);
  // Counted down, so that the compiler sees where there are none.
  for (std::size_t rest = (rows - i) % 4; rest > 0; --rest, ++i)
    multiply_rows<kStore, kShape, 1, NR>(i, depth, a, b, b_row, c, c_row);
}

// Rows in blocks of 8 (or a last one of 4), each as far as its last diagonal element.
template <Store kStore>
HWY_INLINE void multiply_lower(std::size_t rows, std::size_t columns, std::size_t depth, MatrixA a,
                               const float* b, std::size_t b_row, float* c, std::size_t c_row) {
  const std::size_t lanes = hn::Lanes(FloatTag());
  for (std::size_t i = 0; i < rows; i += 8) {
    const std::size_t height = std::min<std::size_t>(8, rows - i);
    const std::size_t end = std::min(columns, i + height);
    const MatrixA block{a.data + i * a.row, a.row, a.column};
    float* to = c + i * c_row;
    std::size_t j = 0;
    for (; j + lanes < end; j += 2 * lanes)
      for (std::size_t r = 0; r < height; r += 4)
        multiply_rows<kStore, Shape::kFull, 4, 2>(r, depth, block, b + j, b_row, to + j, c_row);
    if (j >= end) continue;
    if (height == 8)
      multiply_rows<kStore, Shape::kFull, 8, 1>(0, depth, block, b + j, b_row, to + j, c_row);
    else
      multiply_rows<kStore, Shape::kFull, 4, 1>(0, depth, block, b + j, b_row, to + j, c_row);
  }
}

// C[rows, columns] (=, -=, ...) A[rows, depth] B[depth, columns]; columns are whole vectors. Part
// of its caller, for sizes that the compiler knows: it then unrolls the loops.
template <Store kStore, Shape kShape = Shape::kFull>
HWY_INLINE void multiply_unrolled(std::size_t rows, std::size_t columns, std::size_t depth,
                                  MatrixA a, const float* b, std::size_t b_row, float* c,
                                  std::size_t c_row) {
  const std::size_t lanes = hn::Lanes(FloatTag());
  std::size_t j = 0;
  if constexpr (kShape == Shape::kLowerC) {
    multiply_lower<kStore>(rows, columns, depth, a, b, b_row, c, c_row);
    return;
  }
  for (; j + 2 * lanes <= columns; j += 2 * lanes)
    multiply_columns<kStore, kShape, 2>(j, rows, depth, a, b, b_row, c, c_row);
  for (; j < columns; j += lanes)
    multiply_columns<kStore, kShape, 1>(j, rows, depth, a, b, b_row, c, c_row);
}

// The same as one function for all sizes.
template <Store kStore, Shape kShape = Shape::kFull>
HWY_NOINLINE void multiply(std::size_t rows, std::size_t columns, std::size_t depth, MatrixA a,
                           const float* b, std::size_t b_row, float* c, std::size_t c_row) {
  multiply_unrolled<kStore, kShape>(rows, columns, depth, a, b, b_row, c, c_row);
}

#if HWY_TARGET != HWY_SCALAR
// Transposes blocks of 4 x 4: row r of each block b lies in block b of part[r].
template <class D, class Vector>
HWY_INLINE void store_transposed(D d, const Vector (&part)[4], float* HWY_RESTRICT to,
                                 std::size_t to_row) {
  const hn::Repartition<double, D> pairs;
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, part[0], part[1]));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, part[2], part[3]));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, part[0], part[1]));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, part[2], part[3]));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, to + to_row);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, to + 2 * to_row);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, to + 3 * to_row);
}

// Block b of the vector holds 4 numbers from row 4 b on.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const float* HWY_RESTRICT from, std::size_t row) {
  if constexpr (hn::MaxLanes(d) == 4) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_blocks(half, from + hn::MaxLanes(half) * row, row),
                       load_blocks(half, from, row));
  }
}
#endif

// to[columns, rows] = from[rows, columns]^T; both counts are multiples of 4.
HWY_INLINE void transpose(std::size_t rows, std::size_t columns, const float* HWY_RESTRICT from,
                          std::size_t from_row, float* HWY_RESTRICT to, std::size_t to_row) {
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) to[j * to_row + i] = from[i * from_row + j];
#else
  // As many rows as a vector has lanes go together: block b of vector r holds 4 columns of row
  // 4 b + r, so that the transposes of the 4 x 4 blocks are whole rows of the result.
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= rows; i += lanes)
    for (std::size_t j = 0; j < columns; j += 4) {
      FloatVector part[4];
      for (std::size_t r = 0; r < 4; ++r)
        part[r] = load_blocks(d, from + (i + r) * from_row + j, from_row);
      store_transposed(d, part, to + j * to_row + i, to_row);
    }
  const hn::FixedTag<float, 4> four;
  for (; i < rows; i += 4)
    for (std::size_t j = 0; j < columns; j += 4) {
      hn::Vec<decltype(four)> part[4];
      for (std::size_t r = 0; r < 4; ++r) part[r] = hn::LoadU(four, from + (i + r) * from_row + j);
      store_transposed(four, part, to + j * to_row + i, to_row);
    }
#endif
}

// to[0..4) += the sums over the lanes of four vectors.
HWY_INLINE void add_sums(FloatVector v0, FloatVector v1, FloatVector v2, FloatVector v3,
                         float* to) {
#if HWY_TARGET == HWY_SCALAR
  to[0] += hn::GetLane(v0);
  to[1] += hn::GetLane(v1);
  to[2] += hn::GetLane(v2);
  to[3] += hn::GetLane(v3);
#else
  const FloatTag d;
  const hn::Repartition<double, FloatTag> pairs;
  const hn::FixedTag<float, 4> four;
  const FloatVector t01 = hn::Add(hn::InterleaveLower(d, v0, v1), hn::InterleaveUpper(d, v0, v1));
  const FloatVector t23 = hn::Add(hn::InterleaveLower(d, v2, v3), hn::InterleaveUpper(d, v2, v3));
  const auto p01 = hn::BitCast(pairs, t01), p23 = hn::BitCast(pairs, t23);
  const FloatVector sums = hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, p01, p23)),
                                   hn::BitCast(d, hn::InterleaveUpper(pairs, p01, p23)));
  // Every block of four lanes now holds part of the four sums.
  HWY_ALIGN float blocks[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(sums, d, blocks);
  auto total = hn::LoadU(four, to);
  for (std::size_t i = 0; i < hn::Lanes(d); i += 4)
    total = hn::Add(total, hn::Load(four, blocks + i));
  hn::StoreU(total, four, to);
#endif
}

// sums[i] = the scalar product of rows i of a and b, for i < rows (a multiple of 4).
inline void dot_rows(std::size_t rows, std::size_t width, std::size_t distance, const float* a,
                     const float* b, float* sums) {
  const FloatTag d;
  std::fill_n(sums, rows, 0.0f);
  for (std::size_t i = 0; i < rows; i += 4) {
    FloatVector sum[4];
    for (std::size_t r = 0; r < 4; ++r) {
      const std::size_t row = (i + r) * distance;
      sum[r] = hn::Zero(d);
      for (std::size_t j = 0; j < width; j += hn::Lanes(d))
        sum[r] = hn::MulAdd(hn::Load(d, a + row + j), hn::Load(d, b + row + j), sum[r]);
    }
    add_sums(sum[0], sum[1], sum[2], sum[3], sums + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#endif
