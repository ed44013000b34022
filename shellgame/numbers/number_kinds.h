// What a filter's template needs of a number, for all kinds of them: floating point in any format
// (precision.h), exact rationals, logarithms, and truth values, which tell what is possible at all.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "shellgame/numbers/precision.h"
#include "shellgame/numbers/rational.h"

namespace shellgame {

// Possible or not: + is or, * is and.
struct Possible {
  bool value = false;
  friend Possible operator+(Possible a, Possible b) { return {a.value || b.value}; }
  friend Possible operator*(Possible a, Possible b) { return {a.value && b.value}; }
  friend Possible operator/(Possible a, Possible) { return a; }
  Possible& operator+=(Possible other) { return *this = *this + other; }
  Possible& operator*=(Possible other) { return *this = *this * other; }
  friend bool operator==(Possible, Possible) = default;
};

// A non-negative number held as its logarithm, in any format. Zero is a flag, since e4m3 has no
// infinity.
template <class Real>
struct Logarithm {
  Real log{};
  bool zero = true;

  friend Logarithm operator*(Logarithm a, Logarithm b) {
    if (a.zero || b.zero) return {};
    return {a.log + b.log, false};
  }
  friend Logarithm operator/(Logarithm a, Logarithm b) {
    if (a.zero) return {};
    return {a.log - b.log, false};
  }
  friend Logarithm operator+(Logarithm a, Logarithm b) {
    if (a.zero) return b;
    if (b.zero) return a;
    if (a.log < b.log) std::swap(a, b);
    const Real gap = b.log - a.log;
    const auto ratio = static_cast<Real>(std::exp(static_cast<double>(gap)));
    return {a.log + static_cast<Real>(std::log1p(static_cast<double>(ratio))), false};
  }
  Logarithm& operator+=(Logarithm other) { return *this = *this + other; }
  Logarithm& operator*=(Logarithm other) { return *this = *this * other; }
  friend bool operator==(const Logarithm&, const Logarithm&) = default;
};

template <class Number>
struct NumberTraits {  // double, float, Rounded
  static Number from(const Rational& r) { return static_cast<Number>(to_double(r)); }
  static bool is_zero(const Number& x) { return static_cast<double>(x) == 0; }
  // A number too large for the format, or not a number.
  static bool is_broken(const Number& x) { return !std::isfinite(static_cast<double>(x)); }
  static double log(const Number& x) { return std::log(static_cast<double>(x)); }
  static constexpr bool kExact = false;
};

template <>
struct NumberTraits<Rational> {
  static Rational from(const Rational& r) { return r; }
  static bool is_zero(const Rational& x) { return x == 0; }
  static bool is_broken(const Rational&) { return false; }
  // Also of numbers far below the range of a double.
  static double log(const Rational& x) {
    long above = 0, below = 0;
    const double a = mpz_get_d_2exp(&above, x.get_num_mpz_t());
    const double b = mpz_get_d_2exp(&below, x.get_den_mpz_t());
    return std::log(a / b) + static_cast<double>(above - below) * std::log(2.0);
  }
  static constexpr bool kExact = true;
};

template <>
struct NumberTraits<Possible> {
  static Possible from(const Rational& r) { return {r != 0}; }
  static bool is_zero(Possible x) { return !x.value; }
  static bool is_broken(Possible) { return false; }
  static double log(Possible x) { return x.value ? 0 : -std::numeric_limits<double>::infinity(); }
  static constexpr bool kExact = true;
};

template <class Real>
struct NumberTraits<Logarithm<Real>> {
  static Logarithm<Real> from(const Rational& r) {
    if (r == 0) return {};
    return {static_cast<Real>(NumberTraits<Rational>::log(r)), false};
  }
  static bool is_zero(const Logarithm<Real>& x) { return x.zero; }
  static bool is_broken(const Logarithm<Real>& x) {
    return !x.zero && !std::isfinite(static_cast<double>(x.log));
  }
  static double log(const Logarithm<Real>& x) {
    return x.zero ? -std::numeric_limits<double>::infinity() : static_cast<double>(x.log);
  }
  static constexpr bool kExact = false;
};

}  // namespace shellgame
