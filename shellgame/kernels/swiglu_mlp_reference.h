// The meaning of swiglu and swiglu_mlp, for any kind of number. All matrices are contiguous.
#pragma once

#include "shellgame/kernels/norm_linear_reference.h"

namespace shellgame::reference {

template <class Real>
Real sigmoid(Real x) {
  using std::exp;
  return Real(1) / (Real(1) + exp(-x));
}

template <class Real>
Values<Real> swiglu(const Values<Real>& gate, const Values<Real>& up) {
  Values<Real> y(gate.size());
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = gate[i] * sigmoid(gate[i]) * up[i];
  return y;
}

template <class Real>
struct SwigluGradients {
  Values<Real> gate, up;
};
template <class Real>
SwigluGradients<Real> swiglu_backward(const Values<Real>& gate, const Values<Real>& up,
                                      const Values<Real>& dy) {
  SwigluGradients<Real> d{Values<Real>(gate.size()), Values<Real>(gate.size())};
  for (std::size_t i = 0; i < gate.size(); ++i) {
    const Real s = sigmoid(gate[i]);
    d.gate[i] = dy[i] * up[i] * s * (Real(1) + gate[i] * (Real(1) - s));
    d.up[i] = dy[i] * gate[i] * s;
  }
  return d;
}

template <class Real>
struct SwigluMlp {
  Values<Real> norm, gate, up, down;  // the weights, or their gradients
};

// y = x + (SiLU(n Wg^T) * (n Wu^T)) Wd^T, n = RMSNorm(x).
template <class Real>
Values<Real> swiglu_mlp(std::size_t rows, std::size_t width, std::size_t hidden,
                        const Values<Real>& x, const SwigluMlp<Real>& w, double eps) {
  const Values<Real> n = rms_norm(rows, width, x, w.norm, eps).y;
  const Values<Real> a = swiglu(product(rows, width, hidden, n, transposed(hidden, width, w.gate)),
                                product(rows, width, hidden, n, transposed(hidden, width, w.up)));
  return linear_add(rows, hidden, width, x, a, w.down);
}

// dx includes the residual path.
template <class Real>
SwigluMlp<Real> swiglu_mlp_backward(std::size_t rows, std::size_t width, std::size_t hidden,
                                    const Values<Real>& x, const SwigluMlp<Real>& w, double eps,
                                    const Values<Real>& dy, Values<Real>& dx) {
  const RmsNorm<Real> n = rms_norm(rows, width, x, w.norm, eps);
  const Values<Real> gate = product(rows, width, hidden, n.y, transposed(hidden, width, w.gate));
  const Values<Real> up = product(rows, width, hidden, n.y, transposed(hidden, width, w.up));
  const LinearAddGradients<Real> down =
      linear_add_backward(rows, hidden, width, swiglu(gate, up), w.down, dy);
  const SwigluGradients<Real> d = swiglu_backward(gate, up, down.o);
  Values<Real> dn = product(rows, hidden, width, d.gate, w.gate);
  const Values<Real> dn_up = product(rows, hidden, width, d.up, w.up);
  for (std::size_t i = 0; i < dn.size(); ++i) dn[i] += dn_up[i];
  const RmsNormGradients<Real> norm = rms_norm_backward(rows, width, x, w.norm, n.rstd, dn);
  dx = norm.x;
  for (std::size_t i = 0; i < dx.size(); ++i) dx[i] += dy[i];
  return {norm.weight, product(hidden, rows, width, transposed(rows, hidden, d.gate), n.y),
          product(hidden, rows, width, transposed(rows, hidden, d.up), n.y), down.weight};
}

}  // namespace shellgame::reference
