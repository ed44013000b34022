// Number formats that a filter can compute in, chosen at run time: every result of an operation is
// rounded to the format, to nearest with ties to even, and with `flush` what is subnormal there
// becomes zero. Operations run in double and are rounded once more: for +, -, * and / of formats
// with at most 24 digits this gives the same as rounding the exact result (53 >= 2 * 24 + 2).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace shellgame {

enum class Precision : std::uint8_t { kFp64, kFp32, kBf16, kFp16, kE4m3, kE5m2 };

struct Format {
  const char* name;
  int digits;           // binary digits of a normal number, the hidden one included
  int lowest_exponent;  // the smallest normal number is 2 to this power
  double largest;       // finite number
  bool has_infinity;    // e4m3 has none: what is too large becomes NaN
};

constexpr Format format_of(Precision precision) {
  switch (precision) {
    case Precision::kFp64:
      return {"fp64", 53, -1022, std::numeric_limits<double>::max(), true};
    case Precision::kFp32:
      return {"fp32", 24, -126, std::numeric_limits<float>::max(), true};
    case Precision::kBf16:
      return {"bf16", 8, -126, 0x1.FEp127, true};
    case Precision::kFp16:
      return {"fp16", 11, -14, 65504, true};
    case Precision::kE4m3:
      return {"fp8-e4m3", 4, -6, 448, false};
    case Precision::kE5m2:
      break;
  }
  return {"fp8-e5m2", 3, -14, 57344, true};
}

inline constexpr Precision kAllPrecisions[] = {Precision::kFp64, Precision::kFp32,
                                               Precision::kBf16, Precision::kFp16,
                                               Precision::kE4m3, Precision::kE5m2};

std::vector<std::string> precision_names();
Precision parse_precision(std::string_view name);  // throws UsageError

// The smallest number above zero.
double smallest_positive(Precision precision, bool flush);

template <Precision kPrecision, bool kFlush>
double rounded(double x) {
  constexpr Format kFormat = format_of(kPrecision);
  if constexpr (kPrecision == Precision::kFp32) {
    x = static_cast<float>(x);
  } else if constexpr (kPrecision != Precision::kFp64) {
    if (!std::isfinite(x))
      return kFormat.has_infinity ? x : std::numeric_limits<double>::quiet_NaN();
    if (x == 0) return x;
    // Far above the largest number the auxiliary one below would be infinite.
    if (std::abs(x) >= 2 * kFormat.largest) {
      return kFormat.has_infinity ? std::copysign(std::numeric_limits<double>::infinity(), x)
                                  : std::numeric_limits<double>::quiet_NaN();
    }
    const int exponent = static_cast<int>((std::bit_cast<std::uint64_t>(x) >> 52) & 2047) - 1023;
    const int last = std::max(exponent, kFormat.lowest_exponent) - (kFormat.digits - 1);
    // Adding and taking away 1.5 * 2^52 units rounds to whole units, ties to even.
    const double magic = std::bit_cast<double>(std::uint64_t(last + 52 + 1023) << 52) * 1.5;
    const double result = (x + magic) - magic;
    if (std::abs(result) > kFormat.largest) {
      return kFormat.has_infinity ? std::copysign(std::numeric_limits<double>::infinity(), x)
                                  : std::numeric_limits<double>::quiet_NaN();
    }
    x = result == 0 ? std::copysign(0.0, x) : result;
  }
  if constexpr (kFlush) {
    constexpr double kNormal =
        std::bit_cast<double>(std::uint64_t(kFormat.lowest_exponent + 1023) << 52);
    if (std::abs(x) < kNormal) return std::copysign(0.0, x);
  }
  return x;
}

// rounded() with the format chosen at run time.
double round_to(Precision precision, bool flush, double x);

// A number of the format.
template <Precision kPrecision, bool kFlush>
class Rounded {
 public:
  Rounded() = default;
  explicit Rounded(double x) : value_(rounded<kPrecision, kFlush>(x)) {}
  explicit operator double() const { return value_; }

  friend Rounded operator+(Rounded a, Rounded b) { return Rounded(a.value_ + b.value_); }
  friend Rounded operator-(Rounded a, Rounded b) { return Rounded(a.value_ - b.value_); }
  friend Rounded operator*(Rounded a, Rounded b) { return Rounded(a.value_ * b.value_); }
  friend Rounded operator/(Rounded a, Rounded b) { return Rounded(a.value_ / b.value_); }
  Rounded& operator+=(Rounded other) { return *this = *this + other; }
  Rounded& operator*=(Rounded other) { return *this = *this * other; }
  friend bool operator==(Rounded a, Rounded b) { return a.value_ == b.value_; }
  friend bool operator<(Rounded a, Rounded b) { return a.value_ < b.value_; }

 private:
  double value_ = 0;
};

// Calls visit(std::type_identity<Number>()) with the type that computes in the format: plain double
// and float where the machine does it itself.
template <class Visit>
decltype(auto) with_number(Precision precision, bool flush, Visit&& visit) {
  const auto pick = [&]<Precision kPrecision>() -> decltype(auto) {
    if (flush) return visit(std::type_identity<Rounded<kPrecision, true>>());
    if constexpr (kPrecision == Precision::kFp64)
      return visit(std::type_identity<double>());
    else if constexpr (kPrecision == Precision::kFp32)
      return visit(std::type_identity<float>());
    else
      return visit(std::type_identity<Rounded<kPrecision, false>>());
  };
  switch (precision) {
    case Precision::kFp64:
      return pick.template operator()<Precision::kFp64>();
    case Precision::kFp32:
      return pick.template operator()<Precision::kFp32>();
    case Precision::kBf16:
      return pick.template operator()<Precision::kBf16>();
    case Precision::kFp16:
      return pick.template operator()<Precision::kFp16>();
    case Precision::kE4m3:
      return pick.template operator()<Precision::kE4m3>();
    case Precision::kE5m2:
      break;
  }
  return pick.template operator()<Precision::kE5m2>();
}

}  // namespace shellgame
