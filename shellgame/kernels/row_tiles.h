// What happens to a tile of rows between its matrix products, on the calling thread.
#pragma once

#include <cstdint>

#include "shellgame/kernels/gemm.h"

namespace shellgame {

// rstd[r] = 1 / sqrt(mean(x_r^2) + eps).
void rstd_tile(std::int64_t rows, std::int64_t width, ConstRows x, float eps, float* rstd);

// y = x * rstd * weight; weight may be null.
void normalise_tile(std::int64_t rows, std::int64_t width, ConstRows x, const float* weight,
                    const float* rstd, Rows y);

// Through the norm, g [rows, width] being the gradient of x * rstd:
// dx = residual + rstd (g - x rstd^2 mean(g x)); residual may be empty. dx may be g or residual.
void norm_backward_tile(std::int64_t rows, std::int64_t width, ConstRows x, const float* rstd,
                        ConstRows g, ConstRows residual, Rows dx);

// y = SiLU(gate) * up.
void swiglu_tile(std::int64_t rows, std::int64_t width, ConstRows gate, ConstRows up, Rows y);
// And back; y (the product once more) may be empty. d_gate may be gate, d_up may be up.
void swiglu_backward_tile(std::int64_t rows, std::int64_t width, ConstRows gate, ConstRows up,
                          ConstRows dy, Rows d_gate, Rows d_up, Rows y);

// sum[j] += sum over rows of a * b * scale[row]: a norm weight's gradient.
void add_products_tile(std::int64_t rows, std::int64_t width, ConstRows a, ConstRows b,
                       const float* scale, float* sum);

float row_max(std::int64_t width, const float* row);
// Sum of exp(row - shift); the second form leaves the exponentials in the row.
float exp_sum(std::int64_t width, float shift, const float* row);
float exp_row(std::int64_t width, float shift, float* row);
void scale_row(std::int64_t width, float factor, float* row);
// row = factor * exp(row - shift).
void softmax_row(std::int64_t width, float shift, float factor, float* row);

// Pairs (i, half + i) turned by an angle: y = (x1 c - x2 s, x2 c + x1 s), s times `sign`.
void rotate_row(std::int64_t half, const float* x, const float* cosines, const float* sines,
                float sign, float* y);

// to [width] = sum over x's rows which[0], which[1], ..., in that order.
void sum_rows(std::int64_t count, std::int64_t width, const std::int64_t* which, ConstRows x,
              float* to);

// to[i] = sum over parts of from[part * stride + i], in their order.
void sum_parts(std::int64_t size, std::int64_t parts, std::int64_t stride, const float* from,
               float* to);

}  // namespace shellgame
