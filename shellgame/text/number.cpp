#include "shellgame/text/number.h"

#include <charconv>
#include <cmath>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

// 1000000, and 2^63 - 1 for what nobody can count digits of.
std::string short_whole(std::uint64_t number) {
  constexpr std::uint64_t kPlain = std::uint64_t{1} << 31;
  if (number == kMostUnsigned) return "2^64 - 1";
  for (int power = 31; power < 64; ++power) {
    const std::uint64_t of_two = std::uint64_t{1} << power;
    if (number == of_two) return fmt::format("2^{}", power);
    if (number == of_two - 1 && number >= kPlain - 1) return fmt::format("2^{} - 1", power);
  }
  return std::to_string(number);
}

}  // namespace

std::string NumberBounds::range() const {
  if (whole_) return fmt::format("from {} to {}", least_, short_whole(most_));
  if (std::isinf(high_)) return fmt::format("of at least {}", low_);
  return fmt::format("from {} to {}", low_, high_);
}

std::string NumberBounds::in_words() const {
  return (whole_ ? "a whole number " : "a number ") + range();
}

std::string NumberBounds::minimum() const {
  return whole_ ? std::to_string(least_) : fmt::format("{}", low_);
}

std::string NumberBounds::maximum() const {
  return whole_ ? std::to_string(most_) : fmt::format("{}", high_);
}

bool NumberBounds::accepts(std::string_view text) const {
  if (!whole_) {
    double number = 0;
    return read_number(text, number) && number >= low_ && number <= high_;
  }
  if (text.starts_with('-')) {
    std::int64_t number = 0;
    return read_number(text, number) && std::cmp_greater_equal(number, least_) &&
           std::cmp_less_equal(number, most_);
  }
  std::uint64_t number = 0;
  return read_number(text, number) && std::cmp_greater_equal(number, least_) && number <= most_;
}

std::string NumberBounds::check(std::string_view name, std::string_view text) const {
  if (accepts(text)) return "";
  return fmt::format("{} must be {}, not '{}'", name, in_words(), text);
}

std::uint64_t NumberBounds::parse_whole(std::string_view name, std::string_view text) const {
  if (const std::string wrong = check(name, text); !wrong.empty()) throw UsageError(wrong);
  if (text.starts_with('-')) {
    std::int64_t number = 0;
    read_number(text, number);
    return static_cast<std::uint64_t>(number);
  }
  std::uint64_t number = 0;
  read_number(text, number);
  return number;
}

double NumberBounds::parse_real(std::string_view name, std::string_view text) const {
  if (const std::string wrong = check(name, text); !wrong.empty()) throw UsageError(wrong);
  double number = 0;
  read_number(text, number);
  return number;
}

}  // namespace shellgame
