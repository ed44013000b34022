#include "shellgame/tokens/byte_alphabet.h"

#include <array>

#include "shellgame/text/utf8.h"

namespace shellgame {
namespace {

struct Alphabet {
  std::array<char32_t, 256> characters;
  std::array<std::int16_t, 512> bytes;

  // Printable bytes of Latin-1 stand for themselves; the others, in order, get U+0100 and on.
  Alphabet() {
    bytes.fill(-1);
    char32_t next = 256;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
      characters[byte] = printable ? byte : next++;
      bytes[characters[byte]] = static_cast<std::int16_t>(byte);
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet only;
  return only;
}

}  // namespace

char32_t byte_character(std::uint8_t byte) { return alphabet().characters[byte]; }

bool append_bytes_of(std::string_view text, std::string& bytes) {
  const Alphabet& known = alphabet();
  const std::size_t before = bytes.size();
  for (std::size_t position = 0; position < text.size();) {
    const CodePoint character = code_point_at(text, position);
    const int byte = character.value < 512 ? known.bytes[character.value] : -1;
    if (byte < 0) {
      bytes.resize(before);
      return false;
    }
    bytes.push_back(static_cast<char>(byte));
    position += character.length;
  }
  return true;
}

}  // namespace shellgame
