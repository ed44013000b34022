#include "shellgame/numbers/rational.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "shellgame/text/error.h"
#include "shellgame/text/python_number.h"

namespace shellgame {
namespace {

constexpr long kMostExponent = 400;

[[noreturn]] void not_a_number(std::string_view text) {
  wrong_use("a probability must be a number such as 0.25 or a fraction such as 1/3, not '{}'",
            text);
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.size() < 1000 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

mpz_class power_of_ten(long exponent) {
  mpz_class power;
  mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<unsigned long>(exponent));
  return power;
}

}  // namespace

Rational parse_rational(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  Rational number;
  if (const std::size_t slash = rest.find('/'); slash != std::string_view::npos) {
    const std::string_view above = rest.substr(0, slash), below = rest.substr(slash + 1);
    if (!all_digits(above) || !all_digits(below)) not_a_number(text);
    const mpz_class denominator(std::string(below), 10);
    if (denominator == 0) not_a_number(text);
    number = Rational(mpz_class(std::string(above), 10), denominator);
  } else {
    long exponent = 0;
    if (const std::size_t e = rest.find_first_of("eE"); e != std::string_view::npos) {
      std::string_view digits = rest.substr(e + 1);
      const bool down = digits.starts_with('-');
      if (down || digits.starts_with('+')) digits.remove_prefix(1);
      if (!all_digits(digits) || digits.size() > 4) not_a_number(text);
      exponent = std::stol(std::string(digits)) * (down ? -1 : 1);
      rest = rest.substr(0, e);
    }
    std::string digits(rest);
    if (const std::size_t point = digits.find('.'); point != std::string::npos) {
      exponent -= static_cast<long>(digits.size() - point - 1);
      digits.erase(point, 1);
    }
    if (!all_digits(digits) || std::abs(exponent) > kMostExponent) not_a_number(text);
    const mpz_class whole(digits, 10);  // base 10 whatever it begins with
    number = exponent < 0 ? Rational(whole, power_of_ten(-exponent))
                          : Rational(mpz_class(whole * power_of_ten(exponent)));
  }
  number.canonicalize();
  return negative ? Rational(-number) : number;
}

Rational rational_from(double number) {
  if (!std::isfinite(number)) wrong_use("a probability must be a finite number, not {}", number);
  return parse_rational(python_number(number));
}

double to_double(const Rational& number) {
  const double cut = number.get_d();  // towards zero
  if (!std::isfinite(cut)) return cut;
  const double next =
      std::nextafter(cut, sgn(number) < 0 ? -std::numeric_limits<double>::infinity()
                                          : std::numeric_limits<double>::infinity());
  if (!std::isfinite(next)) return cut;
  const Rational below = abs(Rational(number - Rational(cut)));
  const Rational above = abs(Rational(Rational(next) - number));
  if (below != above) return below < above ? cut : next;
  std::uint64_t bits;
  static_assert(sizeof bits == sizeof cut);
  std::memcpy(&bits, &cut, sizeof bits);
  return (bits & 1) == 0 ? cut : next;
}

std::string to_string(const Rational& number) {
  const std::string decimal = python_number(to_double(number));
  if (number.get_den() == 1) return number.get_num().get_str();
  return decimal.size() <= 17 && parse_rational(decimal) == number ? decimal : number.get_str();
}

}  // namespace shellgame
