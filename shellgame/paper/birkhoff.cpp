#include "shellgame/paper/birkhoff.h"

#include <algorithm>
#include <optional>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr std::uint16_t kNone = UINT16_MAX;

// Rows and columns matched along entries of at least `least`, by augmenting paths.
class Matching {
 public:
  Matching(const std::vector<Rational>& matrix, std::size_t n, const Rational& least)
      : matrix_(matrix), n_(n), least_(least), row_of_(n, kNone) {}

  std::optional<std::vector<std::uint16_t>> perfect() {
    for (std::size_t row = 0; row < n_; ++row) {
      seen_.assign(n_, false);
      if (!augment(row)) return {};
    }
    std::vector<std::uint16_t> column(n_);
    for (std::size_t j = 0; j < n_; ++j) column[row_of_[j]] = static_cast<std::uint16_t>(j);
    return column;
  }

 private:
  bool augment(std::size_t row) {
    for (std::size_t j = 0; j < n_; ++j) {
      if (seen_[j] || matrix_[row * n_ + j] < least_) continue;
      seen_[j] = true;
      if (row_of_[j] != kNone && !augment(row_of_[j])) continue;
      row_of_[j] = static_cast<std::uint16_t>(row);
      return true;
    }
    return false;
  }

  const std::vector<Rational>& matrix_;
  std::size_t n_;
  const Rational& least_;
  std::vector<std::uint16_t> row_of_;  // of each column
  std::vector<bool> seen_;
};

}  // namespace

std::vector<BirkhoffTerm> birkhoff(std::vector<Rational> matrix, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    Rational row, column;
    for (std::size_t j = 0; j < n; ++j) {
      if (matrix[i * n + j] < 0)
        wrong_use("a doubly stochastic matrix must have no negative entry, not {} in row {}",
                  to_string(matrix[i * n + j]), i + 1);
      row += matrix[i * n + j];
      column += matrix[j * n + i];
    }
    if (row != 1) wrong_use("row {} must sum to 1, not {}", i + 1, to_string(row));
    if (column != 1) wrong_use("column {} must sum to 1, not {}", i + 1, to_string(column));
  }
  std::vector<BirkhoffTerm> terms;
  Rational left = 1;
  while (left > 0) {
    // The matching whose smallest entry is largest: few terms, the heaviest first.
    std::vector<Rational> levels;
    for (const Rational& x : matrix) {
      if (x > 0) levels.push_back(x);
    }
    std::ranges::sort(levels);
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    std::size_t low = 0, high = levels.size();  // levels[low] admits one, levels[high] does not
    while (high - low > 1) {
      const std::size_t middle = (low + high) / 2;
      (Matching(matrix, n, levels[middle]).perfect() ? low : high) = middle;
    }
    const auto column = *Matching(matrix, n, levels[low]).perfect();
    Rational weight = matrix[column[0]];
    for (std::size_t i = 0; i < n; ++i) weight = std::min(weight, matrix[i * n + column[i]]);
    for (std::size_t i = 0; i < n; ++i) matrix[i * n + column[i]] -= weight;
    left -= weight;
    terms.push_back({weight, column});
  }
  return terms;
}

}  // namespace shellgame
