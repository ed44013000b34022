#include "shellgame/numbers/precision.h"

#include <fmt/ranges.h>

#include "shellgame/text/error.h"

namespace shellgame {

std::vector<std::string> precision_names() {
  std::vector<std::string> names;
  for (Precision precision : kAllPrecisions) names.emplace_back(format_of(precision).name);
  return names;
}

Precision parse_precision(std::string_view name) {
  for (Precision precision : kAllPrecisions) {
    if (name == format_of(precision).name) return precision;
  }
  wrong_use("a precision must be one of {}, not '{}'", fmt::join(precision_names(), ", "), name);
}

double smallest_positive(Precision precision, bool flush) {
  const Format format = format_of(precision);
  return std::ldexp(1.0, format.lowest_exponent - (flush ? 0 : format.digits - 1));
}

double round_to(Precision precision, bool flush, double x) {
  return with_number(precision, flush, [x]<class Number>(std::type_identity<Number>) {
    return static_cast<double>(static_cast<Number>(x));
  });
}

}  // namespace shellgame
