// The middle of DeltaNet in one pass over memory: from the projections' output to what the output
// projection reads. Per batch and head: causal short convolution, activation, norm of q and k,
// beta = beta_scale * sigmoid(logit), the delta rule, RMSNorm over V and an optional gate.
// Activations between these steps stay in the first-level cache; backward makes them again.
#pragma once

#include <cstddef>

#include "shellgame/kernels/delta_rule.h"
#include "shellgame/kernels/head_norm.h"
#include "shellgame/kernels/row_view.h"

namespace shellgame {

enum class QkActivation { kSilu, kIdentity, kRelu, kElu };  // kElu is ELU(x) + 1
// kL2: x / sqrt(sum x^2 + 1e-6); kSum: x / max(sum |x|, 1e-6).
enum class QkNorm { kL2, kSum, kNone };

template <class Real>
struct DeltaNetCoreInput {
  RowView<const Real> q, k;  // [B,T,H,K], before the convolution
  RowView<const Real> v;     // [B,T,H,V], before the convolution
  RowView<const Real> beta;  // [B,T,H], logits; not given: beta = beta_scale
  RowView<const Real> gate;  // [B,T,H,V], before its activation; not given: no gate

  // Weights [H*K,W] and [H*V,W], the last tap belongs to the current token; W = 0: no convolution.
  std::size_t W = 0;
  const Real *q_conv = nullptr, *k_conv = nullptr, *v_conv = nullptr;
  // The last W inputs before the first token, oldest first: [B,H*K,W] and [B,H*V,W]; not given: 0.
  const Real *q_state = nullptr, *k_state = nullptr, *v_state = nullptr;

  const Real* h0 = nullptr;           // [B,H,K,V]; not given: 0
  const Real* norm_weight = nullptr;  // [V]; not given: no output norm
  Real norm_eps = Real(1e-6);
  Real scale = 1;
  Real beta_scale = 1;                               // 2 allows negative eigenvalues
  QkActivation qk_activation = QkActivation::kSilu;  // v always gets SiLU
  QkNorm qk_norm = QkNorm::kL2;
  GateActivation gate_activation = GateActivation::kSilu;
};

template <class Real>
struct DeltaNetCoreOutput {
  RowView<Real> o;     // [B,T,H,V]
  Real* ht = nullptr;  // [B,H,K,V]; this and the next three are optional
  Real *q_state = nullptr, *k_state = nullptr, *v_state = nullptr;  // as those of the input
};

// Each gradient that is given is written (not added to). Sums over the batch are taken in an order
// that does not depend on the number of threads.
template <class Real>
struct DeltaNetCoreGradients {
  RowView<const Real> d_o;    // [B,T,H,V]; needed
  const Real* dht = nullptr;  // [B,H,K,V]; not given: 0, as the next three
  const Real *dq_state_out = nullptr, *dk_state_out = nullptr, *dv_state_out = nullptr;
  RowView<Real> dq, dk, dv, dbeta, dgate;
  Real *dq_conv = nullptr, *dk_conv = nullptr, *dv_conv = nullptr;     // [H*K,W], [H*K,W], [H*V,W]
  Real *dq_state = nullptr, *dk_state = nullptr, *dv_state = nullptr;  // [B,channels,W]
  Real* dh0 = nullptr;                                                 // [B,H,K,V]
  Real* dnorm_weight = nullptr;                                        // [V]
};

// How many floats forward leaves for backward.
std::size_t delta_net_core_saved_size(const DeltaSizes& sizes);

void delta_net_core_forward(const DeltaSizes& sizes, const DeltaNetCoreInput<float>& input,
                            const DeltaNetCoreOutput<float>& output, float* saved);
void delta_net_core_backward(const DeltaSizes& sizes, const DeltaNetCoreInput<float>& input,
                             const float* saved, const DeltaNetCoreGradients<float>& gradients);

}  // namespace shellgame
