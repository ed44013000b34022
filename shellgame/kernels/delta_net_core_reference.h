// The meaning of delta_net_core.h: its steps one after the other, each by its own reference.
#pragma once

#include <algorithm>
#include <complex>
#include <vector>

#include "shellgame/kernels/delta_net_core.h"
#include "shellgame/kernels/delta_rule_reference.h"
#include "shellgame/kernels/head_norm_reference.h"
#include "shellgame/kernels/short_conv_reference.h"

namespace shellgame {

// All that lies between the inputs and the output; gradients have the same form.
template <class Real>
struct DeltaNetCoreSteps {
  std::vector<Real> q_conv, k_conv, v_conv;  // after the convolution (v with SiLU)
  std::vector<Real> q_act, k_act;            // after the activation
  std::vector<Real> q, k, beta, o;           // what the delta rule reads and gives
};

template <class Real>
Real qk_activation_reference(QkActivation activation, Real x, Real& derivative) {
  using std::exp;
  using std::real;
  const bool positive = real(x) > 0;
  switch (activation) {
    case QkActivation::kSilu:
      return gate_reference(GateActivation::kSilu, x, derivative);
    case QkActivation::kRelu:
      derivative = positive ? 1 : 0;
      return positive ? x : Real(0);
    case QkActivation::kElu:
      derivative = positive ? Real(1) : exp(x);
      return positive ? x + Real(1) : exp(x);
    default:
      derivative = 1;
      return x;
  }
}

// x[rows, heads, width] by its norm; with dy also the gradient, else the value.
template <class Real>
std::vector<Real> qk_norm_reference(const HeadSizes& sizes, QkNorm norm, const std::vector<Real>& x,
                                    const std::vector<Real>* dy) {
  const std::size_t stride = sizes.heads * sizes.width;
  std::vector<Real> result(x.size());
  if (norm == QkNorm::kNone) return dy ? *dy : x;
  if (norm == QkNorm::kL2) {
    if (dy)
      l2_norm_backward_reference<Real>(sizes, {x.data(), stride}, Real(1e-6), {dy->data(), stride},
                                       {result.data(), stride});
    else
      l2_norm_forward_reference<Real>(sizes, {x.data(), stride}, Real(1e-6),
                                      {result.data(), stride});
    return result;
  }
  for (std::size_t row = 0; row < x.size(); row += sizes.width) {
    Real sum = 0, dot = 0;
    const auto sign = [&](std::size_t j) { return std::real(x[j]) < 0 ? Real(-1) : Real(1); };
    for (std::size_t j = row; j < row + sizes.width; ++j) sum += sign(j) * x[j];
    if (std::real(sum) < 1e-6) {
      for (std::size_t j = row; j < row + sizes.width; ++j)
        result[j] = (dy ? (*dy)[j] : x[j]) / Real(1e-6);
      continue;
    }
    for (std::size_t j = row; dy && j < row + sizes.width; ++j) dot += x[j] * (*dy)[j];
    for (std::size_t j = row; j < row + sizes.width; ++j)
      result[j] = dy ? (*dy)[j] / sum - sign(j) * dot / (sum * sum) : x[j] / sum;
  }
  return result;
}

template <class Real>
std::vector<Real> copy_rows(const RowView<const Real>& view, std::size_t rows, std::size_t width) {
  std::vector<Real> result(rows * width);
  for (std::size_t i = 0; i < rows; ++i) std::copy_n(view.row(i), width, &result[i * width]);
  return result;
}

template <class Real>
ShortConvInput<Real> core_conv_input(const RowView<const Real>& x, const Real* weights,
                                     const Real* state, bool silu) {
  return {x, weights, nullptr, state, silu};
}

template <class Real>
DeltaNetCoreSteps<Real> delta_net_core_steps(const DeltaSizes& sizes,
                                             const DeltaNetCoreInput<Real>& in,
                                             const DeltaNetCoreOutput<Real>& out) {
  const auto [B, T, H, K, V] = sizes;
  const std::size_t rows = B * T;
  DeltaNetCoreSteps<Real> s;
  const auto convolve = [&, B = B, T = T](const RowView<const Real>& x, const Real* weights,
                                          const Real* state, bool silu, std::size_t channels,
                                          Real* state_out) {
    std::vector<Real> y = copy_rows(x, rows, channels);
    if (in.W > 0)
      short_conv_forward_reference<Real>({B, T, channels, in.W},
                                         core_conv_input(x, weights, state, silu),
                                         {{y.data(), channels}, state_out});
    else if (silu)
      for (Real& value : y) value *= sigmoid_reference(value);
    return y;
  };
  s.q_conv = convolve(in.q, in.q_conv, in.q_state, false, H * K, out.q_state);
  s.k_conv = convolve(in.k, in.k_conv, in.k_state, false, H * K, out.k_state);
  s.v_conv = convolve(in.v, in.v_conv, in.v_state, true, H * V, out.v_state);
  Real derivative;
  for (const Real x : s.q_conv)
    s.q_act.push_back(qk_activation_reference(in.qk_activation, x, derivative));
  for (const Real x : s.k_conv)
    s.k_act.push_back(qk_activation_reference(in.qk_activation, x, derivative));
  s.q = qk_norm_reference<Real>({rows, H, K}, in.qk_norm, s.q_act, nullptr);
  s.k = qk_norm_reference<Real>({rows, H, K}, in.qk_norm, s.k_act, nullptr);
  s.beta.assign(rows * H, in.beta_scale);
  for (std::size_t i = 0; in.beta && i < rows * H; ++i)
    s.beta[i] *= sigmoid_reference(in.beta.row(i / H)[i % H]);
  s.o.resize(rows * H * V);
  return s;
}

template <class Real>
DeltaRuleInput<Real> core_rule_input(const DeltaSizes& sizes, const DeltaNetCoreInput<Real>& in,
                                     const DeltaNetCoreSteps<Real>& s) {
  DeltaRuleInput<Real> rule;
  rule.q = {s.q.data(), sizes.H * sizes.K};
  rule.k = {s.k.data(), sizes.H * sizes.K};
  rule.v = {s.v_conv.data(), sizes.H * sizes.V};
  rule.beta = {s.beta.data(), sizes.H};
  rule.h0 = in.h0;
  rule.scale = in.scale;
  return rule;
}

template <class Real>
GatedNormInput<Real> core_norm_input(const DeltaSizes& sizes, const DeltaNetCoreInput<Real>& in,
                                     const DeltaNetCoreSteps<Real>& s) {
  return {
      {s.o.data(), sizes.H * sizes.V}, in.gate, in.norm_weight, in.norm_eps, in.gate_activation};
}

// With an output norm; the fast form also knows none.
template <class Real>
void delta_net_core_forward_reference(const DeltaSizes& sizes, const DeltaNetCoreInput<Real>& in,
                                      const DeltaNetCoreOutput<Real>& out) {
  const auto [B, T, H, K, V] = sizes;
  DeltaNetCoreSteps<Real> s = delta_net_core_steps(sizes, in, out);
  delta_rule_forward_reference<Real>(sizes, core_rule_input(sizes, in, s),
                                     {{s.o.data(), H * V}, out.ht});
  gated_norm_forward_reference<Real>({B * T, H, V}, core_norm_input(sizes, in, s), out.o);
}

template <class Real>
void delta_net_core_backward_reference(const DeltaSizes& sizes, const DeltaNetCoreInput<Real>& in,
                                       const DeltaNetCoreGradients<Real>& gradients) {
  const auto [B, T, H, K, V] = sizes;
  const std::size_t rows = B * T;
  DeltaNetCoreSteps<Real> s = delta_net_core_steps(sizes, in, DeltaNetCoreOutput<Real>());
  const DeltaRuleInput<Real> rule = core_rule_input(sizes, in, s);
  delta_rule_forward_reference<Real>(sizes, rule, {{s.o.data(), H * V}, nullptr});

  std::vector<Real> d_o(s.o.size()), dq(s.q.size()), dk(s.k.size()), dv(s.v_conv.size());
  std::vector<Real> dbeta(s.beta.size());
  gated_norm_backward_reference<Real>(
      {rows, H, V}, core_norm_input(sizes, in, s),
      {gradients.d_o, {d_o.data(), H * V}, gradients.dgate, gradients.dnorm_weight});
  DeltaRuleGradients<Real> inner;
  inner.d_o = {d_o.data(), H * V};
  inner.dht = gradients.dht;
  inner.dq = {dq.data(), H * K};
  inner.dk = {dk.data(), H * K};
  inner.dv = {dv.data(), H * V};
  inner.dbeta = {dbeta.data(), H};
  inner.dh0 = gradients.dh0;
  delta_rule_backward_reference<Real>(sizes, rule, inner);

  for (std::size_t i = 0; in.beta && gradients.dbeta && i < rows * H; ++i)
    gradients.dbeta.row(i / H)[i % H] =
        dbeta[i] * s.beta[i] * (Real(1) - s.beta[i] / in.beta_scale);
  dq = qk_norm_reference<Real>({rows, H, K}, in.qk_norm, s.q_act, &dq);
  dk = qk_norm_reference<Real>({rows, H, K}, in.qk_norm, s.k_act, &dk);
  for (std::size_t i = 0; i < dq.size(); ++i) {
    Real derivative;
    qk_activation_reference(in.qk_activation, s.q_conv[i], derivative);
    dq[i] *= derivative;
    qk_activation_reference(in.qk_activation, s.k_conv[i], derivative);
    dk[i] *= derivative;
  }
  const auto convolve = [&, B = B, T = T](const RowView<const Real>& x, const Real* weights,
                                          const Real* state, bool silu, std::size_t channels,
                                          std::vector<Real>& dy, const Real* dstate_out,
                                          const RowView<Real>& dx, Real* dweights, Real* dstate) {
    if (in.W > 0) {
      short_conv_backward_reference<Real>(
          {B, T, channels, in.W}, core_conv_input(x, weights, state, silu),
          {{dy.data(), channels}, dstate_out, dx, dweights, nullptr, dstate});
      return;
    }
    for (std::size_t i = 0; dx && i < rows; ++i)
      for (std::size_t j = 0; j < channels; ++j) {
        Real derivative = 1;
        if (silu) gate_reference(GateActivation::kSilu, x.row(i)[j], derivative);
        dx.row(i)[j] = derivative * dy[i * channels + j];
      }
  };
  convolve(in.q, in.q_conv, in.q_state, false, H * K, dq, gradients.dq_state_out, gradients.dq,
           gradients.dq_conv, gradients.dq_state);
  convolve(in.k, in.k_conv, in.k_state, false, H * K, dk, gradients.dk_state_out, gradients.dk,
           gradients.dk_conv, gradients.dk_state);
  convolve(in.v, in.v_conv, in.v_state, true, H * V, dv, gradients.dv_state_out, gradients.dv,
           gradients.dv_conv, gradients.dv_state);
}

}  // namespace shellgame
