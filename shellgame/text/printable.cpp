#include "shellgame/text/printable.h"

#include <fmt/format.h>

#include <cstdint>

#include "shellgame/text/utf8.h"

namespace shellgame {
namespace {

// Terminals take U+0080 to U+009F for commands, as they do ESC; the others let text look like
// something else than it is.
bool acts(char32_t value) {
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
    } else if (const unsigned length = valid_length_at(text, 0); length == 0) {
      append_control(c, out);
    } else {
      bytes = length;
      if (const char32_t value = code_point_at(text, 0).value; acts(value)) {
        out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(value));
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
