// Types of numbers in tensor files, by safetensors' names, and conversions between the floating
// ones: to nearest with ties to even, subnormals kept, NaN stays NaN (quiet). Other types have a
// name and a size only, so that files which hold them can be opened.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace shellgame {

static_assert(std::endian::native == std::endian::little,
              "tensor files are little-endian, and so must the machine be");

// In safetensors' own order: its writer puts later types first.
enum class Dtype : std::uint8_t {
  kBool,
  kU8,
  kI8,
  kF8E5m2,
  kF8E4m3,
  kI16,
  kU16,
  kF16,
  kBf16,
  kI32,
  kU32,
  kF32,
  kC64,
  kF64,
  kI64,
  kU64
};

std::string_view dtype_name(Dtype dtype);  // "BF16"
std::size_t dtype_size(Dtype dtype);       // in bytes
std::optional<Dtype> parse_dtype(std::string_view name);
// F64, F32, BF16 and F16: what convert() knows.
bool is_convertible(Dtype dtype);

inline float float_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

inline std::uint16_t bf16_from_float(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u)  // NaN: rounding could carry it to infinity
    return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

inline float float_from_f16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, rest = bits & 0x7FFFu;
  if (rest < 0x400u) {  // zero and subnormals: whole multiples of 2^-24
    const float magnitude = static_cast<float>(rest) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  const std::uint32_t exponent_shift = rest >= 0x7C00u ? 255 - 31 : 127 - 15;
  return std::bit_cast<float>(sign | ((rest << 13) + (exponent_shift << 23)));
}

inline std::uint16_t f16_from_float(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  std::uint32_t result = 0x7C00u;  // infinity, from 2^16 on
  if (magnitude > 0x7F800000u) {   // NaN, with the upper part of its payload
    result = 0x7E00u | ((magnitude >> 13) & 0x3FFu);
  } else if (magnitude < 0x38800000u) {  // below 2^-14: the last digit of 1/2 + x is 2^-24
    const float sum = std::bit_cast<float>(magnitude) + 0.5f;
    result = std::bit_cast<std::uint32_t>(sum) - 0x3F000000u;
  } else if (magnitude < 0x47800000u) {  // a carry moves on to the exponent, as it should
    result = (magnitude + 0xFFFu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  }
  return static_cast<std::uint16_t>(sign | result);
}

// In one rounding, not through float.
std::uint16_t bf16_from_double(double x);
std::uint16_t f16_from_double(double x);

// The type that holds a dtype in C++; 16-bit floats have none.
template <class T>
inline constexpr std::optional<Dtype> kDtypeOf = std::nullopt;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<double> = Dtype::kF64;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<float> = Dtype::kF32;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<std::int64_t> = Dtype::kI64;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<std::int32_t> = Dtype::kI32;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<std::uint8_t> = Dtype::kU8;

// `count` numbers from one type to another. Equal types are copied bit for bit; otherwise both must
// be convertible (UsageError). Neither side needs to be aligned; they must not overlap.
void convert(Dtype from, const void* in, Dtype to, void* out, std::size_t count);
// So many at once when a file is converted: the buffer stays in the cache.
inline constexpr std::size_t kConvertedAtOnce = std::size_t{1} << 16;

}  // namespace shellgame
