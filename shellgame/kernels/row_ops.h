// Row operations that stand alone: RMSNorm, rotary positions, the embedding's gradient.
#pragma once

#include <cstdint>

#include "shellgame/kernels/gemm.h"

namespace shellgame {

// y = x * rstd * weight, rstd [rows] = 1 / sqrt(mean(x^2) + eps). weight [width] may be null (all
// 1).
void rms_norm(std::int64_t rows, std::int64_t width, ConstRows x, const float* weight, float eps,
              Rows y, float* rstd);
// dx = d_residual (may be empty) + gradient, or empty; d_weight [width] is written, or null.
void rms_norm_backward(std::int64_t rows, std::int64_t width, ConstRows x, const float* weight,
                       const float* rstd, ConstRows dy, ConstRows d_residual, Rows dx,
                       float* d_weight);

// Cosines and sines of position * base^(-2 i / head_width), [positions][head_width / 2], from
// position `first` on: made once, used by every layer.
class RopeTable {
 public:
  RopeTable(std::int64_t first, std::int64_t positions, std::int64_t head_width, double base);
  std::int64_t half() const { return half_; }
  std::int64_t first() const { return first_; }
  std::int64_t end() const { return first_ + positions_; }
  const float* cosines(std::int64_t position) const {
    return cosines_.data() + (position - first_) * half_;
  }
  const float* sines(std::int64_t position) const {
    return sines_.data() + (position - first_) * half_;
  }

 private:
  std::int64_t half_, first_, positions_;
  Scratch cosines_, sines_;
};

// x, y [rows, heads, head_width], row r at position `offset + r % time`. Half-split form: pairs are
// (i, i + head_width / 2). In place is allowed. The backward pass is the rotation by the opposite
// angle.
struct RopeShape {
  std::int64_t rows = 0, time = 1, heads = 1;
  std::int64_t offset = 0;
};
void rope(const RopeTable& table, const RopeShape& shape, ConstRows x, Rows y);
void rope_backward(const RopeTable& table, const RopeShape& shape, ConstRows dy, Rows dx);

// d_table [vocabulary, width] = sum of dy's rows by id, written; ids [rows] within the vocabulary
// (else UsageError). Rows of an id are summed in their order, in segments of a fixed size.
void embedding_gradient(std::int64_t rows, std::int64_t width, std::int64_t vocabulary,
                        const std::int64_t* ids, ConstRows dy, float* d_table);

}  // namespace shellgame
