// The classes of characters that the patterns of tokenizers are made of, from ICU's data.
#pragma once

#include <unicode/uchar.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "shellgame/text/utf8.h"

namespace shellgame {

enum class CharacterClass : std::uint8_t {
  kOther,    // [^\s\p{L}\p{N}]
  kLetter,   // \p{L}
  kNumber,   // \p{N}
  kSpace,    // \s but no newline
  kNewline,  // [\r\n]
};

inline CharacterClass class_of(char32_t code_point) {
  const std::uint32_t category = U_MASK(u_charType(static_cast<UChar32>(code_point)));
  if ((category & U_GC_L_MASK) != 0) return CharacterClass::kLetter;
  if ((category & U_GC_N_MASK) != 0) return CharacterClass::kNumber;
  if (code_point == '\r' || code_point == '\n') return CharacterClass::kNewline;
  if (u_isUWhiteSpace(static_cast<UChar32>(code_point))) return CharacterClass::kSpace;
  return CharacterClass::kOther;
}

// What Rust's regular expressions call \w.
inline bool is_word_character(char32_t code_point) {
  const auto c = static_cast<UChar32>(code_point);
  return u_isUAlphabetic(c) || u_hasBinaryProperty(c, UCHAR_JOIN_CONTROL) ||
         (U_MASK(u_charType(c)) & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) != 0;
}

struct ClassifiedCharacter {
  CharacterClass kind;
  unsigned length;  // in bytes
};

// The same for ASCII, known to the compiler: most text is nothing else.
inline constexpr std::array<CharacterClass, 128> kAsciiClasses = [] {
  std::array<CharacterClass, 128> classes{};
  for (unsigned c = 0; c < 128; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    classes[c] = letter                            ? CharacterClass::kLetter
                 : c >= '0' && c <= '9'            ? CharacterClass::kNumber
                 : c == '\r' || c == '\n'          ? CharacterClass::kNewline
                 : c == ' ' || (c >= 9 && c <= 13) ? CharacterClass::kSpace
                                                   : CharacterClass::kOther;
  }
  return classes;
}();

// The class of the character at a place of valid UTF-8.
inline ClassifiedCharacter classify_at(std::string_view text, std::size_t position) {
  const auto byte = static_cast<unsigned char>(text[position]);
  if (byte < 128) return {kAsciiClasses[byte], 1};
  const CodePoint point = code_point_at(text, position);
  return {class_of(point.value), point.length};
}

}  // namespace shellgame
