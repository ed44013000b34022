// UTF-8: one code point at a time, validity, and the repair that Hugging Face's library does.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shellgame {

struct CodePoint {
  char32_t value;
  unsigned length;  // in bytes
};

// The code point at `position`; the text must be valid UTF-8 and the position one of its borders.
inline CodePoint code_point_at(std::string_view text, std::size_t position) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[position + i]));
  };
  const char32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  if (first < 0xE0) return {((first & 0x1F) << 6) | (byte(1) & 0x3F), 2};
  if (first < 0xF0) return {((first & 0x0F) << 12) | ((byte(1) & 0x3F) << 6) | (byte(2) & 0x3F), 3};
  return {((first & 0x07) << 18) | ((byte(1) & 0x3F) << 12) | ((byte(2) & 0x3F) << 6) |
              (byte(3) & 0x3F),
          4};
}

// Where the code point that ends just before `position` (which is not 0) begins.
inline std::size_t code_point_before(std::string_view text, std::size_t position) {
  do --position;
  while (position > 0 && (static_cast<unsigned char>(text[position]) & 0xC0) == 0x80);
  return position;
}

void append_utf8(std::string& text, char32_t code_point);

bool is_ascii(std::string_view text);

// How many bytes the code point at `position` has; 0 where what begins there is not UTF-8: longer
// forms than needed, surrogates and numbers above U+10FFFF are not.
unsigned valid_length_at(std::string_view text, std::size_t position);

// The first byte that is no part of valid UTF-8, or npos.
std::size_t find_invalid_utf8(std::string_view text);

// Every maximal part that cannot be continued to a code point becomes one U+FFFD (as the Unicode
// standard recommends, and as Rust's from_utf8_lossy does).
std::string replace_invalid_utf8(std::string text);

}  // namespace shellgame
