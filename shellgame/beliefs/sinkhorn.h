// Sinkhorn-Knopp: rows and columns of a non-negative n x n matrix are divided by their sums in turn
// until all sums are 1. It is the decoder of the paper's marginal recurrence.
#pragma once

#include <cstddef>
#include <vector>

namespace shellgame {

struct Sinkhorn {
  std::vector<double> matrix;
  int rounds = 0;
  // The largest difference of a row's or column's sum from 1 at the end. It stays large where no
  // doubly stochastic matrix has these zeros, and falls only like 1 / rounds where some entries
  // would have to go to zero.
  double residual = 0;
};

// Throws NothingToDecode if a row or column has no mass at all.
Sinkhorn sinkhorn(std::vector<double> matrix, std::size_t n, double tolerance, int most_rounds);

}  // namespace shellgame
