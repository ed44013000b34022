// Birkhoff and von Neumann: a doubly stochastic matrix is a convex combination of permutation
// matrices, of at most (n-1)^2 + 1 of them. So mixing stays within the polytope of what marginals
// can be.
#pragma once

#include <cstdint>
#include <vector>

#include "shellgame/numbers/rational.h"

namespace shellgame {

struct BirkhoffTerm {
  Rational weight;
  std::vector<std::uint16_t> column;  // of each row
};

// The matrix, one row after the other, must have rows and columns that sum to 1 exactly; throws
// UsageError that names the row or column otherwise.
std::vector<BirkhoffTerm> birkhoff(std::vector<Rational> matrix, std::size_t n);

}  // namespace shellgame
