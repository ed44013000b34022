// The meaning of lstm, gru and tanh_rnn, for any kind of number: shapes as in gated_cells.h, one
// head, all contiguous.
#pragma once

#include <cmath>
#include <cstddef>

#include "shellgame/kernels/swiglu_mlp_reference.h"

namespace shellgame::reference {

template <class Real>
struct CellResult {
  Values<Real> y, state;  // [B, T, E]; [S, B, E] at the end
};

// raw[gate][e] of R h.
template <class Real>
Values<Real> times_hidden(std::size_t gates, std::size_t width, const Values<Real>& recurrent,
                          const Real* hidden) {
  Values<Real> raw(gates * width);
  for (std::size_t row = 0; row < gates * width; ++row)
    for (std::size_t k = 0; k < width; ++k) raw[row] += recurrent[row * width + k] * hidden[k];
  return raw;
}

// x [B, T, 4, E] in the order i, f, g, o; start [2, B, E]: h, c.
template <class Real>
CellResult<Real> lstm(std::size_t batch, std::size_t time, std::size_t width, const Values<Real>& x,
                      const Values<Real>& recurrent, const Values<Real>& start) {
  using std::tanh;
  CellResult<Real> r{Values<Real>(batch * time * width), start};
  if (start.empty()) r.state.assign(2 * batch * width, Real(0));
  for (std::size_t b = 0; b < batch; ++b)
    for (std::size_t t = 0; t < time; ++t) {
      Real *h = &r.state[b * width], *c = &r.state[(batch + b) * width];
      const Values<Real> back = times_hidden(4, width, recurrent, h);
      const Real* in = &x[(b * time + t) * 4 * width];
      for (std::size_t e = 0; e < width; ++e) {
        const auto raw = [&](std::size_t gate) {
          return in[gate * width + e] + back[gate * width + e];
        };
        c[e] = sigmoid(raw(1)) * c[e] + sigmoid(raw(0)) * tanh(raw(2));
        h[e] = sigmoid(raw(3)) * tanh(c[e]);
        r.y[(b * time + t) * width + e] = h[e];
      }
    }
  return r;
}

// x [B, T, E]; start [1, B, E]: h.
template <class Real>
CellResult<Real> tanh_rnn(std::size_t batch, std::size_t time, std::size_t width,
                          const Values<Real>& x, const Values<Real>& recurrent,
                          const Values<Real>& start) {
  using std::tanh;
  CellResult<Real> r{Values<Real>(batch * time * width), start};
  if (start.empty()) r.state.assign(batch * width, Real(0));
  for (std::size_t b = 0; b < batch; ++b)
    for (std::size_t t = 0; t < time; ++t) {
      Real* h = &r.state[b * width];
      const Values<Real> back = times_hidden(1, width, recurrent, h);
      for (std::size_t e = 0; e < width; ++e) {
        h[e] = tanh(x[(b * time + t) * width + e] + back[e]);
        r.y[(b * time + t) * width + e] = h[e];
      }
    }
  return r;
}

// x [B, T, 3, E] in the order r, z, n; bias [3, E]; start [1, B, E]: h.
template <class Real>
CellResult<Real> gru(std::size_t batch, std::size_t time, std::size_t width, const Values<Real>& x,
                     const Values<Real>& recurrent, const Values<Real>& bias,
                     const Values<Real>& start) {
  using std::tanh;
  CellResult<Real> r{Values<Real>(batch * time * width), start};
  if (start.empty()) r.state.assign(batch * width, Real(0));
  for (std::size_t b = 0; b < batch; ++b)
    for (std::size_t t = 0; t < time; ++t) {
      Real* h = &r.state[b * width];
      const Values<Real> back = times_hidden(3, width, recurrent, h);
      const Real* in = &x[(b * time + t) * 3 * width];
      for (std::size_t e = 0; e < width; ++e) {
        const auto own = [&](std::size_t gate) {
          return back[gate * width + e] + bias[gate * width + e];
        };
        const Real reset = sigmoid(in[e] + own(0)), update = sigmoid(in[width + e] + own(1));
        const Real fresh = tanh(in[2 * width + e] + reset * own(2));
        h[e] = fresh + update * (h[e] - fresh);
        r.y[(b * time + t) * width + e] = h[e];
      }
    }
  return r;
}

}  // namespace shellgame::reference
