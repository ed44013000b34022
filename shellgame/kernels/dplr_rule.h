// The recurrence with a diagonal plus low-rank transition, which RWKV-7 has. Per batch and head, on
// a state S [K,V], for each token:
//   S <- Diag(e^w) S + a (b^T S) + k v^T;   o = scale S^T q,
// where b meets the state before its decay.
#pragma once

#include <cstddef>

#include "shellgame/kernels/delta_rule.h"
#include "shellgame/kernels/row_view.h"

namespace shellgame {

template <class Real>
struct DplrRuleInput {
  RowView<const Real> q, w, a, b, k;  // [B,T,H,K]; w is the logarithm of a decay
  RowView<const Real> v;              // [B,T,H,V]
  const Real* h0 = nullptr;           // [B,H,K,V]; not given: 0
  Real scale = 1;
};

// Those that are given are written (not added to).
template <class Real>
struct DplrRuleGradients {
  RowView<const Real> d_o;    // [B,T,H,V]; not given: 0
  const Real* dht = nullptr;  // [B,H,K,V]; not given: 0
  RowView<Real> dq, dw, da, db, dk, dv;
  Real* dh0 = nullptr;
};

// As those of delta_rule.h.
std::size_t dplr_rule_saved_size(const DeltaSizes& sizes);
void dplr_rule_forward(const DeltaSizes& sizes, const DplrRuleInput<float>& input,
                       const DeltaRuleOutput<float>& output, float* saved);
void dplr_rule_backward(const DeltaSizes& sizes, const DplrRuleInput<float>& input,
                        const float* saved, const DplrRuleGradients<float>& gradients);

}  // namespace shellgame
