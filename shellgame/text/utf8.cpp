#include "shellgame/text/utf8.h"

#include <cstdint>
#include <cstring>

namespace shellgame {
namespace {

struct Sequence {
  unsigned length;  // of the code point, or of the part that is to be replaced
  bool valid;
};

// Table 3-7 of the Unicode standard: which bytes may follow which.
Sequence sequence_at(std::string_view text, std::size_t position) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return position + i < text.size() ? static_cast<unsigned char>(text[position + i]) : 0;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return {1, true};
  unsigned low = 0x80, high = 0xBF, length = 0;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;  // no surrogates
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;  // nothing above U+10FFFF
  } else {
    return {1, false};
  }
  if (byte(1) < low || byte(1) > high) return {1, false};
  for (unsigned i = 2; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return {i, false};
  return {length, true};
}

// Bytes from `position` that are ASCII, eight at a time; may stop up to seven bytes early.
std::size_t skip_ascii(std::string_view text, std::size_t position) {
  while (position + 8 <= text.size()) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + position, 8);
    if ((word & 0x8080808080808080u) != 0) break;
    position += 8;
  }
  return position;
}

}  // namespace

void append_utf8(std::string& text, char32_t code_point) {
  const auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | (code_point >> 6));
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3F));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

bool is_ascii(std::string_view text) {
  for (std::size_t i = skip_ascii(text, 0); i < text.size(); ++i)
    if (static_cast<unsigned char>(text[i]) >= 0x80) return false;
  return true;
}

unsigned valid_length_at(std::string_view text, std::size_t position) {
  const Sequence sequence = sequence_at(text, position);
  return sequence.valid ? sequence.length : 0;
}

std::size_t find_invalid_utf8(std::string_view text) {
  std::size_t position = 0;
  while (position < text.size()) {
    if (static_cast<unsigned char>(text[position]) < 0x80) {
      const std::size_t skipped = skip_ascii(text, position);
      position = skipped > position ? skipped : position + 1;
      continue;
    }
    const Sequence sequence = sequence_at(text, position);
    if (!sequence.valid) return position;
    position += sequence.length;
  }
  return std::string_view::npos;
}

std::string replace_invalid_utf8(std::string text) {
  std::size_t position = find_invalid_utf8(text);
  if (position == std::string::npos) return text;
  std::string repaired(text, 0, position);
  while (position < text.size()) {
    const Sequence sequence = sequence_at(text, position);
    if (sequence.valid) {
      repaired.append(text, position, sequence.length);
    } else {
      repaired += "\xEF\xBF\xBD";
    }
    position += sequence.length;
  }
  return repaired;
}

}  // namespace shellgame
