// The whole channel mixer with its norm and its residual path, over tiles of rows:
//   n = RMSNorm(x),   y = x + (SiLU(n Wg^T) * (n Wu^T)) Wd^T,
// Wg, Wu [hidden, width], Wd [width, hidden].
#pragma once

#include <cstdint>

#include "shellgame/kernels/gemm.h"

namespace shellgame {

struct SwigluWeights {
  const float* norm = nullptr;  // [width]
  const float* gate = nullptr;  // [hidden, width]
  const float* up = nullptr;    // [hidden, width]
  const float* down = nullptr;  // [width, hidden]
};
// The same shapes; they are written, not added to. Null ones are not computed.
struct SwigluGradients {
  float* norm = nullptr;
  float* gate = nullptr;
  float* up = nullptr;
  float* down = nullptr;
};

// Whether keeping the pre-activations is faster than computing them again.
bool swiglu_mlp_should_save(std::int64_t width, std::int64_t hidden);

// x, y [rows, width]; rstd [rows]; saved [rows, 2 hidden] (gate then up, before SiLU) or null: then
// the backward pass computes them again.
void swiglu_mlp(std::int64_t rows, std::int64_t width, std::int64_t hidden, ConstRows x,
                const SwigluWeights& weights, float eps, Rows y, float* rstd, float* saved);

// dx [rows, width], the residual path included; empty: not computed.
void swiglu_mlp_backward(std::int64_t rows, std::int64_t width, std::int64_t hidden, ConstRows x,
                         const SwigluWeights& weights, const float* rstd, const float* saved,
                         ConstRows dy, Rows dx, const SwigluGradients& gradients);

}  // namespace shellgame
