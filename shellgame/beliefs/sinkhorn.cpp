#include "shellgame/beliefs/sinkhorn.h"

#include <algorithm>
#include <cmath>

#include "shellgame/beliefs/filter_failure.h"

namespace shellgame {
namespace {

void row_sums(const std::vector<double>& matrix, std::size_t n, std::vector<double>& sums) {
  for (std::size_t i = 0; i < n; ++i) {
    sums[i] = 0;
    for (std::size_t j = 0; j < n; ++j) sums[i] += matrix[i * n + j];
  }
}

void column_sums(const std::vector<double>& matrix, std::size_t n, std::vector<double>& sums) {
  std::ranges::fill(sums, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) sums[j] += matrix[i * n + j];
  }
}

double distance_from_one(const std::vector<double>& sums) {
  double most = 0;
  for (double sum : sums) most = std::max(most, std::abs(sum - 1));
  return most;
}

void check_positive(const std::vector<double>& sums, const char* what) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (!(sums[i] > 0))
      throw NothingToDecode(
          fmt::format("every {} must keep some mass to be decoded, and {} {} has none left", what,
                      what, i + 1));
  }
}

}  // namespace

Sinkhorn sinkhorn(std::vector<double> matrix, std::size_t n, double tolerance, int most_rounds) {
  Sinkhorn result;
  std::vector<double> sums(n);
  // Tiny rows first become ordinary numbers, so that products with the columns' factors do not
  // underflow.
  for (result.rounds = 0;; ++result.rounds) {
    row_sums(matrix, n, sums);
    if (result.rounds == 0) check_positive(sums, "row");
    result.residual = distance_from_one(sums);
    if (result.rounds > 0 && result.residual <= tolerance) break;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) matrix[i * n + j] /= sums[i];
    }
    column_sums(matrix, n, sums);
    if (result.rounds == 0) check_positive(sums, "column");
    const double columns = distance_from_one(sums);
    if (result.rounds >= most_rounds) {
      result.residual = columns;
      break;
    }
    if (columns <= tolerance) {
      result.residual = columns;
      break;
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (sums[j] > 0) matrix[i * n + j] /= sums[j];
      }
    }
  }
  result.matrix = std::move(matrix);
  return result;
}

}  // namespace shellgame
