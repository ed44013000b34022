// Arithmetic for sizes that are computed from what people ask: a product too large for its type is
// the largest number of the type, and so it stays too large for whatever it is compared with.
#pragma once

#include <cmath>
#include <concepts>
#include <limits>
#include <utility>

namespace shellgame {

template <std::integral Whole>
constexpr Whole saturating_add(Whole a, Whole b) {
  Whole sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return std::cmp_less(b, 0) ? std::numeric_limits<Whole>::min()
                             : std::numeric_limits<Whole>::max();
}

template <std::integral Whole>
constexpr Whole saturating_multiply(Whole a, Whole b) {
  Whole product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return std::cmp_less(a, 0) != std::cmp_less(b, 0) ? std::numeric_limits<Whole>::min()
                                                    : std::numeric_limits<Whole>::max();
}

template <std::integral Whole, class... More>
constexpr Whole saturating_multiply(Whole a, Whole b, More... more) {
  return saturating_multiply(saturating_multiply(a, b), static_cast<Whole>(more)...);
}

// The nearest whole number towards zero; what is not a number counts as the largest.
template <std::integral Whole>
Whole saturating_cast(double number) {
  constexpr auto kMost = std::numeric_limits<Whole>::max();
  constexpr auto kLeast = std::numeric_limits<Whole>::min();
  // kMost as a double is a power of two, the first number that does not fit.
  if (std::isnan(number) || number >= static_cast<double>(kMost)) return kMost;
  if (number <= static_cast<double>(kLeast)) return kLeast;
  return static_cast<Whole>(number);
}

}  // namespace shellgame
