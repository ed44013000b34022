// Exact rational numbers (GMP): probabilities are kept as they were written, so that a column that
// should sum to 1 is checked without a tolerance, and every floating-point filter has an exact
// twin.
#pragma once

#include <gmpxx.h>

#include <string>
#include <string_view>

namespace shellgame {

using Rational = mpq_class;

// "1/3", "0.25", "1e-3", "2". Throws UsageError on anything else.
Rational parse_rational(std::string_view text);
// The number that a person would write for it: 0.1 gives 1/10, not the double nearest to it.
Rational rational_from(double number);
// The nearest double, ties to even (mpq_class::get_d cuts towards zero).
double to_double(const Rational& number);
// "1/3", or a plain decimal where one says the same in at most 17 digits.
std::string to_string(const Rational& number);

}  // namespace shellgame
