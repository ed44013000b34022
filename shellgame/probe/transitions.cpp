#include "shellgame/probe/transitions.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// Columns: an orthonormal basis [n, n - 1] of the vectors that sum to zero (Helmert's).
at::Tensor zero_sum_basis(std::int64_t n) {
  at::Tensor basis = at::zeros({n, n - 1}, at::kDouble);
  for (std::int64_t d = 0; d + 1 < n; ++d) {
    const auto before = static_cast<double>(d + 1);
    const double scale = 1 / std::sqrt(before * (before + 1));
    basis.narrow(0, 0, d + 1).select(1, d).fill_(scale);
    basis[d + 1][d].fill_(-before * scale);
  }
  return basis;
}

// P [n, n] with P[v, sources[v]] = 1.
at::Tensor matrix_of(const std::vector<std::uint16_t>& sources) {
  const auto n = static_cast<std::int64_t>(sources.size());
  at::Tensor matrix = at::zeros({n, n}, at::kDouble);
  for (std::int64_t v = 0; v < n; ++v) {
    matrix[v][sources[static_cast<std::size_t>(v)]].fill_(1);
  }
  return matrix;
}

std::vector<std::uint16_t> inverse(const std::vector<std::uint16_t>& sources) {
  std::vector<std::uint16_t> back(sources.size());
  for (std::size_t v = 0; v < sources.size(); ++v) {
    back[sources[v]] = static_cast<std::uint16_t>(v);
  }
  return back;
}

}  // namespace

at::Tensor composed_transition(const at::Tensor& keys, const at::Tensor& betas,
                               const at::Tensor& decays) {
  const std::int64_t steps = keys.size(0), width = keys.size(1);
  const at::Tensor k = keys.contiguous(), b = betas.contiguous();
  const at::Tensor scale = decays.defined() ? decays.exp().contiguous() : at::Tensor();
  at::Tensor product = at::eye(width, at::kDouble);
  double* a = product.data_ptr<double>();
  std::vector<double> along(static_cast<std::size_t>(width));
  for (std::int64_t t = 0; t < steps; ++t) {
    const double* key = k.data_ptr<double>() + t * width;
    std::ranges::fill(along, 0.0);
    for (std::int64_t i = 0; i < width; ++i) {
      for (std::int64_t j = 0; j < width; ++j) {
        if (scale.defined()) a[i * width + j] *= scale.data_ptr<double>()[t * width + i];
        along[static_cast<std::size_t>(j)] += key[i] * a[i * width + j];
      }
    }
    const double beta = b.data_ptr<double>()[t];
    for (std::int64_t i = 0; i < width; ++i) {
      for (std::int64_t j = 0; j < width; ++j) {
        a[i * width + j] -= beta * key[i] * along[static_cast<std::size_t>(j)];
      }
    }
  }
  return product;
}

at::Tensor step_decays(const at::Tensor& heads, int head, std::int64_t steps, std::int64_t width) {
  at::Tensor decay = heads.select(1, head);  // [T] or [T, K]
  if (decay.dim() == 1) decay = decay.unsqueeze(1).expand({-1, width});
  const std::int64_t each = steps / decay.size(0);
  at::Tensor all = at::zeros({decay.size(0), each, width}, at::kDouble);
  all.select(1, 0).copy_(decay);
  return all.flatten(0, 1);
}

at::Tensor permutation_basis(const std::vector<at::Tensor>& transitions,
                             const std::vector<std::vector<std::uint16_t>>& sources) {
  const std::int64_t width = transitions.front().size(0);
  const auto n = static_cast<std::int64_t>(sources.front().size());
  const at::Tensor zero_sum = zero_sum_basis(n);
  // |A Q - Q r|^2 with R = Q E^T and r = E^T P E, as a quadratic form in the numbers of Q, row by
  // row: r is orthogonal, so Q r has the length of Q.
  const at::Tensor same = at::eye(n - 1, at::kDouble);
  at::Tensor form = at::zeros({width * (n - 1), width * (n - 1)}, at::kDouble);
  at::Tensor squares = at::zeros({width, width}, at::kDouble);
  for (std::size_t c = 0; c < transitions.size(); ++c) {
    const at::Tensor& a = transitions[c];
    const at::Tensor r = at::matmul(zero_sum.t(), at::matmul(matrix_of(sources[c]), zero_sum));
    squares += at::matmul(a.t(), a);
    form -= at::kron(a.t().contiguous(), r.t().contiguous()) + at::kron(a, r);
  }
  form += at::kron(squares, same) +
          static_cast<double>(transitions.size()) * at::eye(width * (n - 1), at::kDouble);
  const at::Tensor vectors = std::get<1>(at::linalg_eigh(form, "L"));
  return at::matmul(vectors.select(1, 0).reshape({width, n - 1}), zero_sum.t());
}

at::Tensor reading_basis(const std::vector<at::Tensor>& transitions,
                         const std::vector<std::vector<std::uint16_t>>& sources) {
  std::vector<at::Tensor> turned;
  std::vector<std::vector<std::uint16_t>> back;
  for (const at::Tensor& a : transitions) turned.push_back(a.t().contiguous());
  for (const auto& one : sources) back.push_back(inverse(one));
  return permutation_basis(turned, back);
}

double permutation_distance(const at::Tensor& transition, const at::Tensor& basis,
                            const std::vector<std::uint16_t>& sources) {
  const at::Tensor gap = at::matmul(transition, basis) - at::matmul(basis, matrix_of(sources));
  return (gap.norm() / basis.norm()).item<double>();
}

double reading_distance(const at::Tensor& transition, const at::Tensor& basis,
                        const std::vector<std::uint16_t>& sources) {
  return permutation_distance(transition.t(), basis, inverse(sources));
}

PermutationFit nearest_permutation(const at::Tensor& transition, const at::Tensor& basis) {
  const auto n = static_cast<std::size_t>(basis.size(1));
  // |A R - R P|^2 is least where the sum over v of <(A R)_u, R_v> P[v, u] is largest.
  const at::Tensor scores = at::matmul(basis.t(), at::matmul(transition, basis)).contiguous();
  PermutationFit fit;
  fit.nearest = best_assignment({scores.data_ptr<double>(), scores.data_ptr<double>() + n * n}, n);
  fit.distance = permutation_distance(transition, basis, fit.nearest);
  return fit;
}

std::vector<std::uint16_t> best_assignment(const std::vector<double>& scores, std::size_t n) {
  // Costs are minus the scores; rows enter one by one, along shortest paths of reduced costs.
  constexpr double kFar = std::numeric_limits<double>::infinity();
  std::vector<double> row_price(n + 1), column_price(n + 1);
  std::vector<std::size_t> row_of_column(n + 1), before(n + 1);  // counted from 1; 0: none
  for (std::size_t row = 1; row <= n; ++row) {
    row_of_column[0] = row;
    std::size_t column = 0;
    std::vector<double> shortest(n + 1, kFar);
    std::vector<bool> used(n + 1);
    do {
      used[column] = true;
      const std::size_t from = row_of_column[column];
      std::size_t next = 0;
      double step = kFar;
      for (std::size_t j = 1; j <= n; ++j) {
        if (used[j]) continue;
        const double reduced = -scores[(from - 1) * n + j - 1] - row_price[from] - column_price[j];
        if (reduced < shortest[j]) {
          shortest[j] = reduced;
          before[j] = column;
        }
        if (shortest[j] < step) {
          step = shortest[j];
          next = j;
        }
      }
      if (next == 0) fail("scores of an assignment must be numbers, but are not");
      for (std::size_t j = 0; j <= n; ++j) {
        if (used[j]) {
          row_price[row_of_column[j]] += step;
          column_price[j] -= step;
        } else {
          shortest[j] -= step;
        }
      }
      column = next;
    } while (row_of_column[column] != 0);
    for (; column != 0; column = before[column])
      row_of_column[column] = row_of_column[before[column]];
  }
  std::vector<std::uint16_t> sources(n);
  for (std::size_t j = 1; j <= n; ++j) {
    sources[row_of_column[j] - 1] = static_cast<std::uint16_t>(j - 1);
  }
  return sources;
}

}  // namespace shellgame
