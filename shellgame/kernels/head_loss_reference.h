// The meaning of head_loss, for any kind of number. All matrices are contiguous.
#pragma once

#include <cstdint>

#include "shellgame/kernels/norm_linear_reference.h"

namespace shellgame::reference {

template <class Real>
struct HeadLoss {
  Real loss = 0;
  Values<Real> row_loss;       // [rows]
  Values<Real> x, norm, head;  // gradients
};

// Cross entropy of RMSNorm(x) head^T at rows whose target is not negative, their sum or mean. An
// empty norm weight means no norm.
template <class Real>
HeadLoss<Real> head_loss(std::size_t rows, std::size_t width, std::size_t vocabulary,
                         const Values<Real>& x, const Values<Real>& norm, double eps,
                         const Values<Real>& head, const std::vector<std::int64_t>& targets,
                         bool mean) {
  using std::exp;
  using std::log;
  RmsNorm<Real> n{x, Values<Real>(rows, Real(1))};
  if (!norm.empty()) n = rms_norm(rows, width, x, norm, eps);
  const Values<Real> logits =
      product(rows, width, vocabulary, n.y, transposed(vocabulary, width, head));
  double counted = 0;
  for (const std::int64_t target : targets) counted += target >= 0;
  const Real factor = mean && counted > 0 ? Real(1 / counted) : Real(1);
  HeadLoss<Real> result;
  result.row_loss.resize(rows);
  Values<Real> d(rows * vocabulary);
  for (std::size_t r = 0; r < rows; ++r) {
    if (targets[r] < 0) continue;
    const Real* row = logits.data() + r * vocabulary;
    double largest = std::real(row[0]);
    for (std::size_t j = 0; j < vocabulary; ++j)
      largest = std::max(largest, static_cast<double>(std::real(row[j])));
    Real sum = 0;
    for (std::size_t j = 0; j < vocabulary; ++j) sum += exp(row[j] - Real(largest));
    const auto target = static_cast<std::size_t>(targets[r]);
    result.row_loss[r] = log(sum) + Real(largest) - row[target];
    result.loss += factor * result.row_loss[r];
    for (std::size_t j = 0; j < vocabulary; ++j)
      d[r * vocabulary + j] =
          factor * (exp(row[j] - Real(largest)) / sum - (j == target ? Real(1) : Real(0)));
  }
  result.head = product(vocabulary, rows, width, transposed(rows, vocabulary, d), n.y);
  result.x = product(rows, vocabulary, width, d, head);
  if (!norm.empty()) {
    const RmsNormGradients<Real> g = rms_norm_backward(rows, width, x, norm, n.rstd, result.x);
    result.x = g.x;
    result.norm = g.weight;
  }
  return result;
}

}  // namespace shellgame::reference
