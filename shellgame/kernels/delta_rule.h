// The delta rule with decays. Per batch and head, on a state S [K,V], for each token:
//   S <- Diag(e^{g+gk}) S Diag(e^{gv});  e = v - S^T k;  S <- S + k (beta e)^T;  o = scale S^T q.
// DeltaNet (no decays), gated DeltaNet (g), KDA (gk), the two-sided form (gk, gv), and with
// error_term = false (e = v) Mamba2's scan. The meaning is in delta_rule_reference.h.
#pragma once

#include <cstddef>

#include "shellgame/kernels/row_view.h"

namespace shellgame {

struct DeltaSizes {
  std::size_t B = 0, T = 0, H = 0, K = 0, V = 0;
  // Multiplications of a forward pass, about; a backward pass has twice as many.
  double work() const { return 4.0 * static_cast<double>(B * T * H * K * V); }
};

template <class Real>
struct DeltaRuleInput {
  RowView<const Real> q, k;  // [B,T,H,K]
  RowView<const Real> v;     // [B,T,H,V]
  RowView<const Real> beta;  // [B,T,H]; not given: 1
  RowView<const Real> g;     // [B,T,H], logarithm of a decay, as the next two; each optional
  RowView<const Real> gk;    // [B,T,H,K]
  RowView<const Real> gv;    // [B,T,H,V]
  const Real* h0 = nullptr;  // [B,H,K,V]; not given: 0
  Real scale = 1;            // fla: 1/sqrt(K)
  bool error_term = true;
};

template <class Real>
struct DeltaRuleOutput {
  RowView<Real> o;     // [B,T,H,V]
  Real* ht = nullptr;  // [B,H,K,V], the last state; optional
};

// Gradients of the loss: those of the outputs come in, those of the inputs that are given here are
// written (not added to). A view may be a slice of one buffer, but they may not overlap.
template <class Real>
struct DeltaRuleGradients {
  RowView<const Real> d_o;    // [B,T,H,V]; not given: 0
  const Real* dht = nullptr;  // [B,H,K,V]; not given: 0
  RowView<Real> dq, dk, dv, dbeta, dg, dgk, dgv;
  Real* dh0 = nullptr;
};

// kRecurrent goes token by token on tiles of value columns; kChunked takes C tokens as matrix
// products (plain and scalar decay only). kBest is what was measured to be faster.
enum class DeltaForm { kBest, kRecurrent, kChunked };

// How many floats forward leaves for backward: states at the begin of every few chunks.
std::size_t delta_rule_saved_size(const DeltaSizes& sizes, const DeltaRuleInput<float>& input,
                                  DeltaForm form = DeltaForm::kBest);

// `saved` may be null if no backward follows. Backward takes the same input, form and saved values.
// Both run on all threads, and give the same bits for any number of them. They throw UsageError if
// a size is zero or something needed is not given.
void delta_rule_forward(const DeltaSizes& sizes, const DeltaRuleInput<float>& input,
                        const DeltaRuleOutput<float>& output, float* saved,
                        DeltaForm form = DeltaForm::kBest);
void delta_rule_backward(const DeltaSizes& sizes, const DeltaRuleInput<float>& input,
                         const float* saved, const DeltaRuleGradients<float>& gradients,
                         DeltaForm form = DeltaForm::kBest);

}  // namespace shellgame
