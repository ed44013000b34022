// Products of a few rows by weights, read where they lie: for a token of each sequence packing a
// weight costs more than the product. A row's results do not depend on the rows beside it.
#pragma once

#include <cstdint>
#include <span>

#include "shellgame/kernels/gemm.h"

namespace shellgame {

// The most rows for which this is the form. Measured against packing and gemm on one thread, from
// 64 x 194 to 512 x 3080: 4 to 14 times as fast for one row, 1.5 to 2.3 times for 8; they meet
// between 12 and 32 rows.
inline constexpr std::int64_t kFewRows = 8;

struct FewRowsProduct {
  std::int64_t rows = 0, in = 0;
  ConstRows x;                       // [rows, in]
  const float* scale = nullptr;      // [in], times x; null: 1
  const float* row_scale = nullptr;  // [rows], times y; null: 1
  std::span<const Weight> weights;   // each [out, in]
  ConstRows base;                    // [rows, sum of out], added; may be empty
  Rows y;                            // [rows, sum of out]; may be base
};

// y = base + row_scale (x scale) [W1; W2; ...]^T.
void few_rows_product(const FewRowsProduct& product);

}  // namespace shellgame
