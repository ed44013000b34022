// The meaning of slstm, for any kind of number: shapes as in slstm.h, all contiguous.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <vector>

#include "shellgame/kernels/swiglu_mlp_reference.h"

namespace shellgame::reference {

struct SlstmSizes {
  std::size_t batch = 0, time = 0, heads = 0, width = 0;
};

template <class Real>
struct SlstmResult {
  Values<Real> y, state;  // [B, T, H, E]; [4, B, H, E]: h, c, n, m at the end
};

// `start` [4, B, H, E] may be empty: zeros.
template <class Real>
SlstmResult<Real> slstm(const SlstmSizes& s, const Values<Real>& x, const Values<Real>& recurrent,
                        const Values<Real>& bias, const Values<Real>& start) {
  using std::exp;
  using std::log;
  const std::size_t all = s.heads * s.width, unit = s.batch * all;
  SlstmResult<Real> r{Values<Real>(s.batch * s.time * all), start};
  if (start.empty()) r.state.assign(4 * unit, Real(0));
  for (std::size_t b = 0; b < s.batch; ++b)
    for (std::size_t t = 0; t < s.time; ++t) {
      const Values<Real> before(r.state.begin() + static_cast<std::ptrdiff_t>(b * all),
                                r.state.begin() + static_cast<std::ptrdiff_t>((b + 1) * all));
      for (std::size_t h = 0; h < s.heads; ++h)
        for (std::size_t e = 0; e < s.width; ++e) {
          Real raw[4];
          for (std::size_t gate = 0; gate < 4; ++gate) {
            const std::size_t place = (gate * s.heads + h) * s.width + e;
            raw[gate] = x[(b * s.time + t) * 4 * all + place] + bias[place];
            for (std::size_t k = 0; k < s.width; ++k)
              raw[gate] +=
                  recurrent[((h * 4 + gate) * s.width + e) * s.width + k] * before[h * s.width + k];
          }
          const std::size_t at = b * all + h * s.width + e;
          Real &hidden = r.state[at], &c = r.state[unit + at], &n = r.state[2 * unit + at],
               &m = r.state[3 * unit + at];
          const Real kept = log(sigmoid(raw[1])) + m;
          const bool empty = n == Real(0);
          const Real stable = empty || std::real(raw[0]) >= std::real(kept) ? raw[0] : kept;
          const Real input = exp(raw[0] - stable), forget = empty ? Real(0) : exp(kept - stable);
          using std::tanh;
          c = forget * c + input * tanh(raw[2]);
          n = forget * n + input;
          m = stable;
          hidden = sigmoid(raw[3]) * c / n;
          r.y[(b * s.time + t) * all + h * s.width + e] = hidden;
        }
    }
  return r;
}

// Gradients of sum(dy y) + sum(d_state state) by running the cell forward on tangents would be
// slow; this goes back through time, unit by unit, with every intermediate value kept.
template <class Real>
struct SlstmGradients {
  Values<Real> x, recurrent, bias, state;
};
template <class Real>
SlstmGradients<Real> slstm_backward(const SlstmSizes& s, const Values<Real>& x,
                                    const Values<Real>& recurrent, const Values<Real>& bias,
                                    const Values<Real>& start, const Values<Real>& dy,
                                    const Values<Real>& d_state) {
  using std::exp;
  using std::log;
  using std::tanh;
  const std::size_t all = s.heads * s.width, unit = s.batch * all;
  // States before each token, by running the prefix once more: T is small where this is used.
  std::vector<Values<Real>> before;
  SlstmSizes one = s;
  one.time = 1;
  Values<Real> now = start.empty() ? Values<Real>(4 * unit) : start;
  for (std::size_t t = 0; t < s.time; ++t) {
    before.push_back(now);
    Values<Real> token;
    for (std::size_t b = 0; b < s.batch; ++b) {
      const auto from = x.begin() + static_cast<std::ptrdiff_t>((b * s.time + t) * 4 * all);
      token.insert(token.end(), from, from + static_cast<std::ptrdiff_t>(4 * all));
    }
    now = slstm(one, token, recurrent, bias, now).state;
  }
  SlstmGradients<Real> d{Values<Real>(x.size()), Values<Real>(recurrent.size()),
                         Values<Real>(bias.size()), d_state};
  if (d_state.empty()) d.state.assign(4 * unit, Real(0));
  for (std::size_t t = s.time; t-- > 0;) {
    const Values<Real>& old = before[t];
    Values<Real> d_hidden(unit);  // of the state before
    for (std::size_t b = 0; b < s.batch; ++b)
      for (std::size_t h = 0; h < s.heads; ++h)
        for (std::size_t e = 0; e < s.width; ++e) {
          Real raw[4];
          for (std::size_t gate = 0; gate < 4; ++gate) {
            const std::size_t place = (gate * s.heads + h) * s.width + e;
            raw[gate] = x[(b * s.time + t) * 4 * all + place] + bias[place];
            for (std::size_t k = 0; k < s.width; ++k)
              raw[gate] += recurrent[((h * 4 + gate) * s.width + e) * s.width + k] *
                           old[b * all + h * s.width + k];
          }
          const std::size_t at = b * all + h * s.width + e;
          const Real c = old[unit + at], n = old[2 * unit + at], m = old[3 * unit + at];
          const bool empty = n == Real(0);
          const Real kept = log(sigmoid(raw[1])) + m;
          const bool input_rules = empty || std::real(raw[0]) >= std::real(kept);
          const Real stable = input_rules ? raw[0] : kept;
          const Real input = exp(raw[0] - stable), forget = empty ? Real(0) : exp(kept - stable);
          const Real z = tanh(raw[2]), o = sigmoid(raw[3]);
          const Real cell = forget * c + input * z, norm = forget * n + input;
          const Real dh = d.state[at] + dy[(b * s.time + t) * all + h * s.width + e];
          const Real dc = d.state[unit + at] + dh * o / norm;
          const Real dn = d.state[2 * unit + at] - dh * o * cell / (norm * norm);
          Real d_keep = forget * (dc * c + dn * n), d_input = input * (dc * z + dn);
          const Real d_stable = d.state[3 * unit + at] - d_keep - d_input;
          (input_rules ? d_input : d_keep) += d_stable;
          const Real d_raw[4] = {d_input, d_keep * (Real(1) - sigmoid(raw[1])),
                                 dc * input * (Real(1) - z * z),
                                 dh * cell / norm * o * (Real(1) - o)};
          d.state[unit + at] = dc * forget;
          d.state[2 * unit + at] = dn * forget;
          d.state[3 * unit + at] = d_keep;
          for (std::size_t gate = 0; gate < 4; ++gate) {
            const std::size_t place = (gate * s.heads + h) * s.width + e;
            d.x[(b * s.time + t) * 4 * all + place] = d_raw[gate];
            d.bias[place] += d_raw[gate];
            for (std::size_t k = 0; k < s.width; ++k) {
              const std::size_t weight = ((h * 4 + gate) * s.width + e) * s.width + k;
              d.recurrent[weight] += d_raw[gate] * old[b * all + h * s.width + k];
              d_hidden[b * all + h * s.width + k] += d_raw[gate] * recurrent[weight];
            }
          }
        }
    for (std::size_t i = 0; i < unit; ++i) d.state[i] = d_hidden[i];
  }
  return d;
}

}  // namespace shellgame::reference
