// Norms over the values of one head, `width` of them, in rows that hold several heads:
// the l2 norm x / sqrt(sum x^2 + eps), and RMSNorm with a weight shared by all heads and a gate,
//   y = x / sqrt(mean x^2 + eps) * weight * act(gate).
#pragma once

#include <cstddef>

#include "shellgame/kernels/row_view.h"

namespace shellgame {

enum class GateActivation { kSilu, kSigmoid };

struct HeadSizes {
  std::size_t rows = 0, heads = 0, width = 0;
};

template <class Real>
struct GatedNormInput {
  RowView<const Real> x;         // [rows,heads,width]
  RowView<const Real> gate;      // [rows,heads,width]; not given: no gate
  const Real* weight = nullptr;  // [width]; not given: 1
  Real eps = Real(1e-6);
  GateActivation activation = GateActivation::kSilu;
};

// Those that are given are written (not added to).
template <class Real>
struct GatedNormGradients {
  RowView<const Real> dy;
  RowView<Real> dx, dgate;
  Real* dweight = nullptr;
};

inline constexpr float kL2Epsilon = 1e-6f;  // fla's, fixed

void l2_norm_forward(const HeadSizes& sizes, RowView<const float> x, float eps, RowView<float> y);
void l2_norm_backward(const HeadSizes& sizes, RowView<const float> x, float eps,
                      RowView<const float> dy, RowView<float> dx);

void gated_norm_forward(const HeadSizes& sizes, const GatedNormInput<float>& input,
                        RowView<float> y);
void gated_norm_backward(const HeadSizes& sizes, const GatedNormInput<float>& input,
                         const GatedNormGradients<float>& gradients);

}  // namespace shellgame
