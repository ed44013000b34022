// The replay of a certificate: explicit orders, exact fractions, nothing of the filters or of the
// search.
#include <algorithm>
#include <map>

#include "shellgame/decay/certificate.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using Order = std::vector<int>;  // the value of each variable
using Masses = std::map<Order, Rational>;
using Matrix = std::vector<std::vector<Rational>>;  // [variable][value]
using Meaning = Certificate::Meaning;

Rational sum_of(const Masses& masses) {
  Rational sum;
  for (const auto& entry : masses) sum += entry.second;
  return sum;
}

Masses mixed(const Masses& masses, const Meaning& symbol) {
  Masses result;
  for (const auto& [order, mass] : masses) {
    for (const Certificate::Outcome& outcome : symbol.mixture) {
      if (outcome.probability == 0) continue;
      Order next;
      for (int from : outcome.from) next.push_back(order[static_cast<std::size_t>(from)]);
      result[next] += outcome.probability * mass;
    }
  }
  return result;
}

Masses revealed(const Masses& masses, const Meaning& symbol) {
  Masses result;
  for (const auto& [order, mass] : masses) {
    if (order[static_cast<std::size_t>(symbol.variable)] == symbol.value) result[order] = mass;
  }
  return result;
}

Matrix mixed(const Matrix& matrix, const Meaning& symbol) {
  Matrix result(matrix.size(), std::vector<Rational>(matrix.size()));
  for (const Certificate::Outcome& outcome : symbol.mixture) {
    for (std::size_t row = 0; row < matrix.size(); ++row) {
      const auto& from = matrix[static_cast<std::size_t>(outcome.from[row])];
      for (std::size_t value = 0; value < matrix.size(); ++value)
        result[row][value] += outcome.probability * from[value];
    }
  }
  return result;
}

Matrix revealed(Matrix matrix, const Meaning& symbol) {
  const auto i = static_cast<std::size_t>(symbol.variable);
  const auto j = static_cast<std::size_t>(symbol.value);
  for (Rational& x : matrix[i]) x = 0;
  for (auto& row : matrix) row[j] = 0;
  matrix[i][j] = 1;
  return matrix;
}

std::vector<Rational> column(const Matrix& matrix, std::size_t value) {
  std::vector<Rational> result;
  for (const auto& row : matrix) result.push_back(row[value]);
  return result;
}

Rational sum_of(const std::vector<Rational>& list) {
  Rational sum;
  for (const Rational& x : list) sum += x;
  return sum;
}

Rational smallest_sum(const Matrix& matrix) {
  Rational least = sum_of(matrix[0]);
  for (std::size_t k = 0; k < matrix.size(); ++k)
    least = std::min({least, sum_of(matrix[k]), sum_of(column(matrix, k))});
  return least;
}

// Whether `now` is a multiple of `then`, both not zero.
bool is_multiple(const std::vector<Rational>& now, const std::vector<Rational>& then) {
  const Rational a = sum_of(then), b = sum_of(now);
  for (std::size_t k = 0; k < now.size(); ++k) {
    if (now[k] * a != then[k] * b) return false;
  }
  return a != 0 && b != 0;
}

struct Replay {
  explicit Replay(const Certificate& certificate)
      : joint(certificate.representation == Representation::kJoint),
        matrix(static_cast<std::size_t>(certificate.n),
               std::vector<Rational>(static_cast<std::size_t>(certificate.n))) {
    for (const auto& [order, probability] : certificate.start) {
      if (probability < 0)
        fail("the probabilities of the start must be at least 0, not {}", probability.get_str());
      masses[order] += probability;
      for (std::size_t v = 0; v < order.size(); ++v)
        matrix[v][static_cast<std::size_t>(order[v])] += probability;
    }
    if (sum_of(masses) != 1)
      fail("the probabilities of the start must sum to 1, not {}", sum_of(masses).get_str());
  }

  // Reveals must be possible given all before.
  void say(const std::string& name, const Meaning& symbol, Confirmation& confirmed) {
    if (!symbol.mixture.empty()) {
      masses = mixed(masses, symbol);
      matrix = mixed(matrix, symbol);
      return;
    }
    const Rational before = sum_of(masses);
    masses = revealed(masses, symbol);
    matrix = revealed(matrix, symbol);
    const Rational chance = sum_of(masses) / before;
    if (chance == 0) fail("every reveal must be possible, and '{}' is not at its place", name);
    if (confirmed.reveals++ == 0 || chance < confirmed.rarest) confirmed.rarest = chance;
  }
  Rational norm() const { return joint ? sum_of(masses) : smallest_sum(matrix); }

  bool repeats(const Replay& before) const {
    if (masses.size() != before.masses.size()) return false;
    std::vector<Rational> now, then;
    for (const auto& [order, mass] : before.masses) {
      const auto found = masses.find(order);
      if (found == masses.end()) return false;
      then.push_back(mass);
      now.push_back(found->second);
    }
    if (joint) return is_multiple(now, then);
    for (std::size_t k = 0; k < matrix.size(); ++k) {
      if (!is_multiple(column(matrix, k), column(before.matrix, k))) return false;
    }
    return true;
  }

  bool joint;
  Masses masses;  // never renormalised: the exact belief is this divided by its sum
  Matrix matrix;
};

void check_mixtures(const Certificate& certificate) {
  for (const auto& [name, symbol] : certificate.symbols) {
    if (symbol.mixture.empty()) continue;
    Rational sum;
    for (const auto& outcome : symbol.mixture) {
      sum += outcome.probability;
      if (outcome.probability < 0)
        fail("'{}': probabilities must not be negative, and one is {}", name,
             outcome.probability.get_str());
    }
    if (sum != 1)
      fail("'{}': the probabilities must sum to 1, and they sum to {}", name, sum.get_str());
  }
}

}  // namespace

Confirmation check_certificate(const Certificate& certificate) {
  Confirmation confirmed;
  check_mixtures(certificate);
  Replay replay(certificate);
  for (const std::string& name : certificate.before)
    replay.say(name, certificate.symbols.at(name), confirmed);
  std::vector<Rational> norms{replay.norm()};
  for (std::size_t k = 0; k + 1 < certificate.norms.size(); ++k) {
    const Replay start = replay;
    for (const std::string& name : certificate.cycle)
      replay.say(name, certificate.symbols.at(name), confirmed);
    norms.push_back(replay.norm());
    confirmed.for_ever = replay.repeats(start);
  }
  for (std::size_t k = 0; k < norms.size(); ++k) {
    if (norms[k] != certificate.norms[k])
      fail("the norm after {} repetitions is claimed to be {}, and it is {}", k,
           certificate.norms[k].get_str(), norms[k].get_str());
  }
  confirmed.constant_from = norms.size() - 1;
  while (confirmed.constant_from > 0 &&
         norms[confirmed.constant_from] == norms[confirmed.constant_from - 1] * certificate.factor)
    --confirmed.constant_from;
  if (confirmed.constant_from == norms.size() - 1)
    fail("the last repetition is claimed to change the norm by the factor {}, and it is {}",
         certificate.factor.get_str(), Rational(norms.back() / norms[norms.size() - 2]).get_str());
  auto& say = confirmed.sentences;
  say.push_back(fmt::format("all {} reveals are possible; the rarest has probability {}",
                            confirmed.reveals, confirmed.rarest.get_str()));
  say.push_back(fmt::format("the {} norm after 0 to {} repetitions is as claimed, at last {}",
                            to_string(certificate.representation), norms.size() - 1,
                            norms.back().get_str()));
  say.push_back(fmt::format("the factor per cycle is {} from repetition {} on",
                            certificate.factor.get_str(), confirmed.constant_from + 1));
  say.push_back(confirmed.for_ever
                    ? "a cycle gives a multiple of what was before it: it repeats forever"
                    : "a cycle does not give an exact multiple: nothing is shown beyond these "
                      "repetitions");
  return confirmed;
}

}  // namespace shellgame
