// A linear map added to the residual stream: y = x + o W^T, W [width, in].
#pragma once

#include <cstdint>

#include "shellgame/kernels/gemm.h"

namespace shellgame {

// x, y [rows, width], o [rows, in]; x may be empty ({}): y = o W^T. y may be x itself.
void linear_add(std::int64_t rows, std::int64_t in, std::int64_t width, ConstRows x, ConstRows o,
                const float* weight, Rows y);

// d_o [rows, in] = dy W, d_weight [width, in] = dy^T o (written; either may be null). dx is dy
// itself.
void linear_add_backward(std::int64_t rows, std::int64_t in, std::int64_t width, ConstRows o,
                         const float* weight, ConstRows dy, Rows d_o, float* d_weight);

}  // namespace shellgame
