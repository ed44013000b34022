// From the masses that a recurrence holds, of any kind of number, to a belief in doubles.
#pragma once

#include <cmath>
#include <vector>

#include "shellgame/numbers/number_kinds.h"

namespace shellgame {

// Divides by the sum; all zeros give all zeros.
template <class Number>
std::vector<double> normalised(const std::vector<Number>& mass) {
  std::vector<double> result(mass.size());
  double sum = 0;
  for (std::size_t i = 0; i < mass.size(); ++i) sum += result[i] = static_cast<double>(mass[i]);
  if (sum > 0) {
    for (double& x : result) x /= sum;
  }
  return result;
}

inline std::vector<double> normalised(const std::vector<Rational>& mass) {
  std::vector<double> result;
  Rational sum;
  for (const Rational& x : mass) sum += x;
  for (const Rational& x : mass) result.push_back(sum == 0 ? 0 : to_double(Rational(x / sum)));
  return result;
}

template <class Real>
std::vector<double> normalised(const std::vector<Logarithm<Real>>& mass) {
  double most = -std::numeric_limits<double>::infinity();
  for (const auto& x : mass) most = std::max(most, NumberTraits<Logarithm<Real>>::log(x));
  std::vector<double> result;
  for (const auto& x : mass)
    result.push_back(x.zero ? 0 : std::exp(static_cast<double>(x.log) - most));
  return normalised(result);
}

// log of the sum.
template <class Number>
double log_sum(const std::vector<Number>& mass) {
  double sum = 0;
  for (const Number& x : mass) sum += static_cast<double>(x);
  return std::log(sum);
}

inline double log_sum(const std::vector<Rational>& mass) {
  Rational sum;
  for (const Rational& x : mass) sum += x;
  return NumberTraits<Rational>::log(sum);
}

template <class Real>
double log_sum(const std::vector<Logarithm<Real>>& mass) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const auto& x : mass) most = std::max(most, NumberTraits<Logarithm<Real>>::log(x));
  if (std::isinf(most)) return most;
  for (const auto& x : mass) sum += x.zero ? 0 : std::exp(static_cast<double>(x.log) - most);
  return most + std::log(sum);
}

// The number itself as a double; of a logarithm, the logarithm.
template <class Number>
double plain(const Number& x) {
  return static_cast<double>(x);
}
inline double plain(const Rational& x) { return to_double(x); }
template <class Real>
double plain(const Logarithm<Real>& x) {
  return NumberTraits<Logarithm<Real>>::log(x);
}

inline double entropy_of(const std::vector<double>& belief) {
  double sum = 0;
  for (double p : belief) sum -= p > 0 ? p * std::log(p) : 0;
  return sum;
}

}  // namespace shellgame
