// The delta rule with decays, token by token as it is written down: the meaning of delta_rule.h,
// and what its tests compare with. Real is float, double or std::complex<double> (for complex
// steps).
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "shellgame/kernels/delta_rule.h"

namespace shellgame {

// One token's decays as factors: a[K] on rows and c[V] on columns of the state.
template <class Real>
void delta_rule_decays(const DeltaSizes& sizes, const DeltaRuleInput<Real>& input, std::size_t row,
                       std::size_t h, std::vector<Real>& a, std::vector<Real>& c) {
  using std::exp;
  const auto [B, T, H, K, V] = sizes;
  const Real g = input.g ? input.g.row(row)[h] : Real(0);
  for (std::size_t i = 0; i < K; ++i)
    a[i] = exp(g + (input.gk ? input.gk.row(row)[h * K + i] : Real(0)));
  for (std::size_t j = 0; j < V; ++j) c[j] = input.gv ? exp(input.gv.row(row)[h * V + j]) : Real(1);
}

// S[K,V] becomes the state after the token; e[V] is its error (or v itself without error term), and
// `decayed`, if given, the state after the decay.
template <class Real>
void delta_rule_step(const DeltaSizes& sizes, const DeltaRuleInput<Real>& input, std::size_t row,
                     std::size_t h, std::vector<Real>& S, std::vector<Real>& e, Real* decayed) {
  const auto [B, T, H, K, V] = sizes;
  std::vector<Real> a(K), c(V);
  delta_rule_decays(sizes, input, row, h, a, c);
  for (std::size_t i = 0; i < K; ++i)
    for (std::size_t j = 0; j < V; ++j) S[i * V + j] *= a[i] * c[j];
  if (decayed) std::copy(S.begin(), S.end(), decayed);
  const Real* k = input.k.row(row) + h * K;
  const Real* v = input.v.row(row) + h * V;
  const Real beta = input.beta ? input.beta.row(row)[h] : Real(1);
  for (std::size_t j = 0; j < V; ++j) {
    e[j] = v[j];
    if (input.error_term)
      for (std::size_t i = 0; i < K; ++i) e[j] -= S[i * V + j] * k[i];
  }
  for (std::size_t i = 0; i < K; ++i)
    for (std::size_t j = 0; j < V; ++j) S[i * V + j] += k[i] * beta * e[j];
}

template <class Real>
void delta_rule_forward_reference(const DeltaSizes& sizes, const DeltaRuleInput<Real>& input,
                                  const DeltaRuleOutput<Real>& output) {
  const auto [B, T, H, K, V] = sizes;
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t h = 0; h < H; ++h) {
      const std::size_t item = (b * H + h) * K * V;
      std::vector<Real> S(K * V), e(V);
      if (input.h0) S.assign(input.h0 + item, input.h0 + item + K * V);
      for (std::size_t t = 0; t < T; ++t) {
        const std::size_t row = b * T + t;
        delta_rule_step<Real>(sizes, input, row, h, S, e, nullptr);
        const Real* q = input.q.row(row) + h * K;
        Real* o = output.o.row(row) + h * V;
        for (std::size_t j = 0; j < V; ++j) {
          Real sum = 0;
          for (std::size_t i = 0; i < K; ++i) sum += S[i * V + j] * q[i];
          o[j] = input.scale * sum;
        }
      }
      if (output.ht) std::copy(S.begin(), S.end(), output.ht + item);
    }
}

template <class Real>
void delta_rule_backward_reference(const DeltaSizes& sizes, const DeltaRuleInput<Real>& input,
                                   const DeltaRuleGradients<Real>& gradients) {
  const auto [B, T, H, K, V] = sizes;
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t h = 0; h < H; ++h) {
      const std::size_t item = (b * H + h) * K * V;
      // Forward again, with all decayed states, new states and errors.
      std::vector<Real> decayed(T * K * V), states(T * K * V), errors(T * V), S(K * V), e(V);
      if (input.h0) S.assign(input.h0 + item, input.h0 + item + K * V);
      for (std::size_t t = 0; t < T; ++t) {
        delta_rule_step(sizes, input, b * T + t, h, S, e, &decayed[t * K * V]);
        std::copy(S.begin(), S.end(), &states[t * K * V]);
        std::copy(e.begin(), e.end(), &errors[t * V]);
      }
      std::vector<Real> dS(K * V), a(K), c(V), dq(K), dk(K), dgk(K), de(V), dgv(V);
      if (gradients.dht) dS.assign(gradients.dht + item, gradients.dht + item + K * V);
      for (std::size_t t = T; t-- > 0;) {
        const std::size_t row = b * T + t;
        const Real* q = input.q.row(row) + h * K;
        const Real* k = input.k.row(row) + h * K;
        const Real* before = &decayed[t * K * V];
        const Real* after = &states[t * K * V];
        const Real* error = &errors[t * V];
        const Real beta = input.beta ? input.beta.row(row)[h] : Real(1);
        delta_rule_decays(sizes, input, row, h, a, c);
        dq.assign(K, 0);
        if (gradients.d_o) {
          const Real* d_o = gradients.d_o.row(row) + h * V;
          for (std::size_t i = 0; i < K; ++i)
            for (std::size_t j = 0; j < V; ++j) {
              dq[i] += input.scale * after[i * V + j] * d_o[j];
              dS[i * V + j] += input.scale * q[i] * d_o[j];
            }
        }
        Real dbeta = 0, dg = 0;
        dk.assign(K, 0);
        de.assign(V, 0);
        dgk.assign(K, 0);
        dgv.assign(V, 0);
        for (std::size_t i = 0; i < K; ++i)
          for (std::size_t j = 0; j < V; ++j) {
            dk[i] += dS[i * V + j] * beta * error[j];
            de[j] += dS[i * V + j] * k[i];
          }
        for (std::size_t j = 0; j < V; ++j) {
          dbeta += de[j] * error[j];
          de[j] *= beta;
        }
        for (std::size_t i = 0; i < K; ++i)
          for (std::size_t j = 0; j < V; ++j) {
            Real& d = dS[i * V + j];
            if (input.error_term) {
              dk[i] -= before[i * V + j] * de[j];
              d -= k[i] * de[j];
            }
            const Real exponent = d * before[i * V + j];
            dgk[i] += exponent;
            dgv[j] += exponent;
            dg += exponent;
            d *= a[i] * c[j];
          }
        if (gradients.dq) std::copy(dq.begin(), dq.end(), gradients.dq.row(row) + h * K);
        if (gradients.dk) std::copy(dk.begin(), dk.end(), gradients.dk.row(row) + h * K);
        if (gradients.dv) std::copy(de.begin(), de.end(), gradients.dv.row(row) + h * V);
        if (gradients.dbeta) gradients.dbeta.row(row)[h] = dbeta;
        if (gradients.dg) gradients.dg.row(row)[h] = dg;
        if (gradients.dgk) std::copy(dgk.begin(), dgk.end(), gradients.dgk.row(row) + h * K);
        if (gradients.dgv) std::copy(dgv.begin(), dgv.end(), gradients.dgv.row(row) + h * V);
      }
      if (gradients.dh0) std::copy(dS.begin(), dS.end(), gradients.dh0 + item);
    }
}

}  // namespace shellgame
