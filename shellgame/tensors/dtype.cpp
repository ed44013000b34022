#include "shellgame/tensors/dtype.h"

#include <array>
#include <cstring>
#include <type_traits>

#include "shellgame/numbers/precision.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

struct Row {
  std::string_view name;
  std::size_t size;
};

constexpr std::array<Row, 16> kRows = {{{"BOOL", 1},
                                        {"U8", 1},
                                        {"I8", 1},
                                        {"F8_E5M2", 1},
                                        {"F8_E4M3", 1},
                                        {"I16", 2},
                                        {"U16", 2},
                                        {"F16", 2},
                                        {"BF16", 2},
                                        {"I32", 4},
                                        {"U32", 4},
                                        {"F32", 4},
                                        {"C64", 8},
                                        {"F64", 8},
                                        {"I64", 8},
                                        {"U64", 8}}};

// What is read from and written to memory for each convertible type.
struct Bf16 {
  std::uint16_t bits;
};
struct F16 {
  std::uint16_t bits;
};

template <class From>
auto value_of(From x) {
  if constexpr (std::is_same_v<From, Bf16>)
    return float_from_bf16(x.bits);
  else if constexpr (std::is_same_v<From, F16>)
    return float_from_f16(x.bits);
  else
    return x;
}

template <class To, class Value>
To stored(Value x) {
  constexpr bool kWide = std::is_same_v<Value, double>;
  if constexpr (std::is_same_v<To, Bf16>) {
    if constexpr (kWide)
      return {bf16_from_double(x)};
    else
      return {bf16_from_float(x)};
  } else if constexpr (std::is_same_v<To, F16>) {
    if constexpr (kWide)
      return {f16_from_double(x)};
    else
      return {f16_from_float(x)};
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void convert_all(const char* in, char* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    From x;
    std::memcpy(&x, in + i * sizeof(From), sizeof(From));
    const To y = stored<To>(value_of(x));
    std::memcpy(out + i * sizeof(To), &y, sizeof(To));
  }
}

template <class Visit>
void with_type(Dtype dtype, Visit&& visit) {
  switch (dtype) {
    case Dtype::kF64:
      return visit(std::type_identity<double>());
    case Dtype::kF32:
      return visit(std::type_identity<float>());
    case Dtype::kBf16:
      return visit(std::type_identity<Bf16>());
    case Dtype::kF16:
      return visit(std::type_identity<F16>());
    default:
      wrong_use("only F64, F32, BF16 and F16 can be converted, not {}", dtype_name(dtype));
  }
}

}  // namespace

std::string_view dtype_name(Dtype dtype) { return kRows[static_cast<std::size_t>(dtype)].name; }

std::size_t dtype_size(Dtype dtype) { return kRows[static_cast<std::size_t>(dtype)].size; }

std::optional<Dtype> parse_dtype(std::string_view name) {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<Dtype>(i);
  }
  return std::nullopt;
}

bool is_convertible(Dtype dtype) {
  return dtype == Dtype::kF64 || dtype == Dtype::kF32 || dtype == Dtype::kBf16 ||
         dtype == Dtype::kF16;
}

std::uint16_t bf16_from_double(double x) {
  return bf16_from_float(static_cast<float>(rounded<Precision::kBf16, false>(x)));
}

std::uint16_t f16_from_double(double x) {
  return f16_from_float(static_cast<float>(rounded<Precision::kFp16, false>(x)));
}

void convert(Dtype from, const void* in, Dtype to, void* out, std::size_t count) {
  if (count == 0) return;
  if (from == to) {
    std::memcpy(out, in, count * dtype_size(from));
    return;
  }
  with_type(from, [&]<class From>(std::type_identity<From>) {
    with_type(to, [&]<class To>(std::type_identity<To>) {
      convert_all<From, To>(static_cast<const char*>(in), static_cast<char*>(out), count);
    });
  });
}

}  // namespace shellgame
