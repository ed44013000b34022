// The header of a .npy file, in and out.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "shellgame/tensors/npy.h"
#include "shellgame/text/error.h"
#include "shellgame/text/strict_json.h"

namespace shellgame {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;

constexpr std::array<std::pair<Dtype, std::string_view>, 13> kNames = {{{Dtype::kBool, "|b1"},
                                                                        {Dtype::kU8, "|u1"},
                                                                        {Dtype::kI8, "|i1"},
                                                                        {Dtype::kI16, "<i2"},
                                                                        {Dtype::kU16, "<u2"},
                                                                        {Dtype::kF16, "<f2"},
                                                                        {Dtype::kI32, "<i4"},
                                                                        {Dtype::kU32, "<u4"},
                                                                        {Dtype::kF32, "<f4"},
                                                                        {Dtype::kC64, "<c8"},
                                                                        {Dtype::kF64, "<f8"},
                                                                        {Dtype::kI64, "<i8"},
                                                                        {Dtype::kU64, "<u8"}}};

// The header's text, a Python dictionary such as
// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }
class HeaderText {
 public:
  HeaderText(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  void read(NpyHeader& header) {
    expect('{');
    std::array<bool, 3> seen{};
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      constexpr std::array<std::string_view, 3> kKeys = {"descr", "fortran_order", "shape"};
      const auto which = static_cast<std::size_t>(std::ranges::find(kKeys, key) - kKeys.begin());
      if (which == kKeys.size() || seen[which])
        wrong(fmt::format("must have the keys descr, fortran_order and shape, each once, not '{}'",
                          printable(key)));
      seen[which] = true;
      if (which == 0) {
        header.dtype = dtype();
      } else if (which == 1) {
        if (accept("True")) wrong("must have the array in C order, not in Fortran's");
        if (!accept("False")) wrong("must have True or False as fortran_order");
      } else {
        header.shape = shape();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (!rest_.empty()) wrong("must end after the dictionary");
    if (!seen[0] || !seen[1] || !seen[2]) wrong("must have descr, fortran_order and shape");
  }

 private:
  [[noreturn]] void wrong(const std::string& sentence) const {
    throw InputError(file_, "the header " + sentence);
  }
  void skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
  }
  bool accept(std::string_view word) {
    skip_spaces();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool accept(char c) { return accept(std::string_view(&c, 1)); }
  void expect(char c) {
    if (!accept(c)) {
      wrong(fmt::format("must be a dictionary as numpy.save writes it, with '{}' before '{}'", c,
                        printable(rest_.substr(0, 20))));
    }
  }
  std::string_view quoted() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) wrong("must have an end for each text");
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }
  Dtype dtype() {
    skip_spaces();
    const std::string_view name = quoted();
    for (const auto& [dtype, known] : kNames) {
      if (known == name) return dtype;
    }
    wrong(fmt::format("must name a little-endian number type such as '<f4', not '{}'",
                      printable(name)));
  }
  Shape shape() {
    expect('(');
    Shape result;
    while (!accept(')')) {
      if (result.size() == kMaxAxes) wrong(fmt::format("must have at most {} axes", kMaxAxes));
      result.push_back(length());
      if (!accept(',')) {
        expect(')');
        if (result.size() == 1) wrong("must have a shape that is a tuple, such as (3,)");
        break;
      }
    }
    return result;
  }
  std::int64_t length() {
    skip_spaces();
    std::int64_t number = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      if (digits == 18) wrong("must have axes below 10^18");
      number = number * 10 + (rest_[digits] - '0');
    }
    if (digits == 0) wrong("must have a shape of whole numbers from 0 on");
    rest_.remove_prefix(digits);
    return number;
  }
  // Bytes of any kind, for a message.
  static std::string printable(std::string_view bytes) {
    std::string text = shown(bytes);
    for (char& c : text) {
      if (static_cast<unsigned char>(c) >= 0x80) c = '?';
    }
    return text;
  }

  std::string_view rest_;
  const std::string& file_;
};

}  // namespace

std::string npy_header(Dtype dtype, std::span<const std::int64_t> shape) {
  const auto named = std::ranges::find(kNames, dtype, &std::pair<Dtype, std::string_view>::first);
  if (named == kNames.end()) wrong_use("NumPy has no type for {}", dtype_name(dtype));
  if (!element_count(shape) || shape.size() > kMaxAxes) {
    wrong_use("an array must have at most {} axes and 2^63 - 1 elements, not the shape {}",
              kMaxAxes, shape_text(shape));
  }
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", named->second,
                  fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // NumPy leaves room for a first axis of 21 digits, so that a file can grow in place; then at
  // least one space more than is needed to align the numbers.
  if (!shape.empty()) text.append(21 - std::to_string(shape[0]).size(), ' ');
  constexpr std::size_t kBefore = 10;  // magic, version, length
  text.append(kAlignment - (kBefore + text.size() + 1) % kAlignment, ' ');
  text += '\n';
  const auto length = static_cast<std::uint16_t>(text.size());  // 64 axes of 19 digits fit
  std::string header(kMagic);
  header += '\1';
  header += '\0';
  header.append(reinterpret_cast<const char*>(&length), sizeof length);
  return header + text;
}

NpyHeader parse_npy_header(std::string_view first, std::uint64_t file_size,
                           const std::string& file) {
  if (!first.starts_with(kMagic) || first.size() < 10)
    throw InputError(file, "a .npy file must begin with \\x93NUMPY, its version and a length");
  const int version = static_cast<unsigned char>(first[6]);
  if (version < 1 || version > 3 || first[7] != 0) {
    throw InputError(
        file, fmt::format("the version of a .npy file must be 1.0, 2.0 or 3.0, not {}.{}", version,
                          static_cast<unsigned char>(first[7])));
  }
  const std::size_t width = version == 1 ? 2 : 4;
  std::uint32_t length = 0;
  if (first.size() >= 8 + width) std::memcpy(&length, first.data() + 8, width);
  if (first.size() < 8 + width || length > first.size() - 8 - width) {
    throw InputError(file, fmt::format("the header must end within the file and have at most {} "
                                       "bytes, but it has {}",
                                       kMaxNpyHeader, length));
  }
  NpyHeader header;
  HeaderText(first.substr(8 + width, length), file).read(header);
  header.data_begin = 8 + width + length;
  const auto elements = element_count(header.shape);
  if (!elements || *elements > (std::uint64_t{1} << 60) ||
      *elements * dtype_size(header.dtype) != file_size - header.data_begin) {
    throw InputError(file, fmt::format("an array of the shape {} and the type {} must fill the {} "
                                       "bytes after the header",
                                       shape_text(header.shape), dtype_name(header.dtype),
                                       file_size - header.data_begin));
  }
  return header;
}

}  // namespace shellgame
