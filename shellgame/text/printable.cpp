#include "shellgame/text/printable.h"

#include <fmt/format.h>

#include <cstdint>

namespace shellgame {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

// The first code point of `text`, which begins with a byte above 0x7f. Longer forms than needed,
// surrogates and numbers above U+10FFFF are not UTF-8: terminals disagree about them.
CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc0 || byte(0) > 0xf4 || text.size() < bytes) return {};
  std::uint32_t value = byte(0) & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[bytes] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return {};
  return {value, bytes};
}

// Terminals take U+0080 to U+009F for commands, as they do ESC; the others let text look like
// something else than it is.
bool acts(std::uint32_t value) {
  return value <= 0x9f || value == 0x200e || value == 0x200f ||
         (value >= 0x2028 && value <= 0x202e) || (value >= 0x2066 && value <= 0x2069);
}

void append_control(char c, std::string& out) {
  switch (c) {
    case '\n':
      out += "\\n";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\r':
      out += "\\r";
      break;
    default:
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
}

std::string escaped_text(std::string_view text, bool keep_lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const char c = text.front();
    std::size_t bytes = 1;
    if (c >= ' ' && c <= '~') {
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x80) {
      if (keep_lines && (c == '\n' || c == '\t')) {
        out += c;
      } else {
        append_control(c, out);
      }
    } else if (const CodePoint point = first_code_point(text); point.bytes == 0) {
      append_control(c, out);
    } else {
      bytes = point.bytes;
      if (acts(point.value)) {
        out += fmt::format("\\u{:04x}", point.value);
      } else {
        out += text.substr(0, bytes);
      }
    }
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return escaped_text(text, false); }

std::string printable_lines(std::string_view text) { return escaped_text(text, true); }

}  // namespace shellgame
