// The meaning of dplr_rule.h, token by token, for float, double or std::complex<double>.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "shellgame/kernels/dplr_rule.h"

namespace shellgame {

// S[K,V] becomes the state after the token; y[V] = b^T S of the state before.
template <class Real>
void dplr_rule_step(const DeltaSizes& sizes, const DplrRuleInput<Real>& input, std::size_t row,
                    std::size_t h, std::vector<Real>& S, std::vector<Real>& y) {
  using std::exp;
  const auto [B, T, H, K, V] = sizes;
  const auto value = [&, K = K](const RowView<const Real>& view, std::size_t i) {
    return view.row(row)[h * K + i];
  };
  const Real* v = input.v.row(row) + h * V;
  std::fill(y.begin(), y.end(), Real(0));
  for (std::size_t i = 0; i < K; ++i)
    for (std::size_t j = 0; j < V; ++j) y[j] += value(input.b, i) * S[i * V + j];
  for (std::size_t i = 0; i < K; ++i)
    for (std::size_t j = 0; j < V; ++j)
      S[i * V + j] = exp(value(input.w, i)) * S[i * V + j] + value(input.a, i) * y[j] +
                     value(input.k, i) * v[j];
}

template <class Real>
void dplr_rule_forward_reference(const DeltaSizes& sizes, const DplrRuleInput<Real>& input,
                                 const DeltaRuleOutput<Real>& output) {
  const auto [B, T, H, K, V] = sizes;
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t h = 0; h < H; ++h) {
      const std::size_t item = (b * H + h) * K * V;
      std::vector<Real> S(K * V), y(V);
      if (input.h0) S.assign(input.h0 + item, input.h0 + item + K * V);
      for (std::size_t t = 0; t < T; ++t) {
        const std::size_t row = b * T + t;
        dplr_rule_step(sizes, input, row, h, S, y);
        for (std::size_t j = 0; j < V; ++j) {
          Real sum = 0;
          for (std::size_t i = 0; i < K; ++i) sum += S[i * V + j] * input.q.row(row)[h * K + i];
          output.o.row(row)[h * V + j] = input.scale * sum;
        }
      }
      if (output.ht) std::copy(S.begin(), S.end(), output.ht + item);
    }
}

template <class Real>
void dplr_rule_backward_reference(const DeltaSizes& sizes, const DplrRuleInput<Real>& input,
                                  const DplrRuleGradients<Real>& gradients) {
  using std::exp;
  const auto [B, T, H, K, V] = sizes;
  for (std::size_t batch = 0; batch < B; ++batch)
    for (std::size_t h = 0; h < H; ++h) {
      const std::size_t item = (batch * H + h) * K * V;
      std::vector<Real> states((T + 1) * K * V), ys(T * V), S(K * V), y(V), dS(K * V);
      if (input.h0) S.assign(input.h0 + item, input.h0 + item + K * V);
      std::copy(S.begin(), S.end(), states.begin());
      for (std::size_t t = 0; t < T; ++t) {
        dplr_rule_step(sizes, input, batch * T + t, h, S, y);
        std::copy(S.begin(), S.end(), &states[(t + 1) * K * V]);
        std::copy(y.begin(), y.end(), &ys[t * V]);
      }
      if (gradients.dht) dS.assign(gradients.dht + item, gradients.dht + item + K * V);
      for (std::size_t t = T; t-- > 0;) {
        const std::size_t row = batch * T + t;
        const Real *before = &states[t * K * V], *after = before + K * V, *yt = &ys[t * V];
        const Real* v = input.v.row(row) + h * V;
        std::vector<Real> dq(K), dw(K), da(K), db(K), dk(K), dv(V), dy(V);
        for (std::size_t i = 0; i < K; ++i)
          for (std::size_t j = 0; j < V; ++j) {
            Real& d = dS[i * V + j];
            if (gradients.d_o) {
              const Real d_o = input.scale * gradients.d_o.row(row)[h * V + j];
              dq[i] += after[i * V + j] * d_o;
              d += input.q.row(row)[h * K + i] * d_o;
            }
            dk[i] += d * v[j];
            dv[j] += d * input.k.row(row)[h * K + i];
            da[i] += d * yt[j];
            dy[j] += d * input.a.row(row)[h * K + i];
            dw[i] += d * exp(input.w.row(row)[h * K + i]) * before[i * V + j];
          }
        for (std::size_t i = 0; i < K; ++i)
          for (std::size_t j = 0; j < V; ++j) {
            db[i] += before[i * V + j] * dy[j];
            dS[i * V + j] = exp(input.w.row(row)[h * K + i]) * dS[i * V + j] +
                            input.b.row(row)[h * K + i] * dy[j];
          }
        const auto write = [&](const std::vector<Real>& from, const RowView<Real>& to) {
          if (to) std::copy(from.begin(), from.end(), to.row(row) + h * from.size());
        };
        write(dq, gradients.dq);
        write(dw, gradients.dw);
        write(da, gradients.da);
        write(db, gradients.db);
        write(dk, gradients.dk);
        write(dv, gradients.dv);
      }
      if (gradients.dh0) std::copy(dS.begin(), dS.end(), gradients.dh0 + item);
    }
}

}  // namespace shellgame
