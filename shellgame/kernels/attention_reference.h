// The meaning of attention_forward and attention_backward, for any kind of number.
#pragma once

#include <cmath>
#include <complex>
#include <vector>

#include "shellgame/kernels/attention.h"

namespace shellgame::reference {

inline double real_part(double x) { return x; }
inline double real_part(const std::complex<double>& x) { return x.real(); }

// Weights of the keys [first_key(t), last_key(t)] for one query.
template <class Real>
std::vector<Real> attention_weights(const AttentionSizes& s, const AttentionInput<Real>& in,
                                    std::size_t b, std::size_t h, std::size_t t) {
  using std::exp;
  const std::size_t g = h / (s.H / s.G), first = s.first_key(t);
  const Real* q = in.q.row(b * s.T + t) + h * s.K;
  std::vector<Real> weights;
  double greatest = -1e300;
  for (std::size_t j = first; j <= s.last_key(t); ++j) {
    const Real* k = in.k.row(b * s.S + j) + g * s.K;
    Real score = 0;
    for (std::size_t i = 0; i < s.K; ++i) score += q[i] * k[i];
    weights.push_back(in.scale * score);
    greatest = std::max(greatest, real_part(weights.back()));
  }
  Real sum = 0;
  for (Real& weight : weights) sum += weight = exp(weight - greatest);
  for (Real& weight : weights) weight /= sum;
  return weights;
}

template <class Real>
void attention_forward(const AttentionSizes& s, const AttentionInput<Real>& in,
                       const RowView<Real>& o) {
  for (std::size_t b = 0; b < s.B; ++b)
    for (std::size_t h = 0; h < s.H; ++h)
      for (std::size_t t = 0; t < s.T; ++t) {
        const std::vector<Real> weights = attention_weights(s, in, b, h, t);
        Real* out = o.row(b * s.T + t) + h * s.V;
        for (std::size_t i = 0; i < s.V; ++i) out[i] = 0;
        for (std::size_t n = 0; n < weights.size(); ++n) {
          const Real* v = in.v.row(b * s.S + s.first_key(t) + n) + h / (s.H / s.G) * s.V;
          for (std::size_t i = 0; i < s.V; ++i) out[i] += weights[n] * v[i];
        }
      }
}

// With dw_j = do . v_j:  ds_j = w_j (dw_j - sum_l w_l dw_l).
template <class Real>
void attention_backward(const AttentionSizes& s, const AttentionInput<Real>& in,
                        const AttentionGradients<Real>& out) {
  for (std::size_t row = 0; row < s.B * s.T; ++row)
    for (std::size_t i = 0; i < s.H * s.K; ++i) out.dq.row(row)[i] = 0;
  for (std::size_t row = 0; row < s.B * s.S; ++row) {
    for (std::size_t i = 0; i < s.G * s.K; ++i) out.dk.row(row)[i] = 0;
    for (std::size_t i = 0; i < s.G * s.V; ++i) out.dv.row(row)[i] = 0;
  }
  for (std::size_t b = 0; b < s.B; ++b)
    for (std::size_t h = 0; h < s.H; ++h)
      for (std::size_t t = 0; t < s.T; ++t) {
        const std::vector<Real> weights = attention_weights(s, in, b, h, t);
        const std::size_t g = h / (s.H / s.G), row = b * s.T + t;
        const std::size_t first = b * s.S + s.first_key(t);
        const Real *q = in.q.row(row) + h * s.K, *d_o = out.d_o.row(row) + h * s.V;
        Real* dq = out.dq.row(row) + h * s.K;
        std::vector<Real> d_weights(weights.size());
        Real mean = 0;
        for (std::size_t n = 0; n < weights.size(); ++n) {
          const Real* v = in.v.row(first + n) + g * s.V;
          Real* dv = out.dv.row(first + n) + g * s.V;
          for (std::size_t i = 0; i < s.V; ++i) {
            d_weights[n] += d_o[i] * v[i];
            dv[i] += weights[n] * d_o[i];
          }
          mean += weights[n] * d_weights[n];
        }
        for (std::size_t n = 0; n < weights.size(); ++n) {
          const Real d_score = in.scale * weights[n] * (d_weights[n] - mean);
          const Real* k = in.k.row(first + n) + g * s.K;
          Real* dk = out.dk.row(first + n) + g * s.K;
          for (std::size_t i = 0; i < s.K; ++i) {
            dq[i] += d_score * k[i];
            dk[i] += d_score * q[i];
          }
        }
      }
}

}  // namespace shellgame::reference
