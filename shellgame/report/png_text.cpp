#include <array>
#include <cstdint>

#include "shellgame/report/render.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";

std::uint32_t crc(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t n = 0; n < 256; ++n) {
      std::uint32_t c = n;
      for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? 0xedb88320u ^ (c >> 1) : c >> 1;
      table[n] = c;
    }
    return table;
  }();
  std::uint32_t sum = 0xffffffffu;
  for (const char c : bytes)
    sum = kTable[(sum ^ static_cast<unsigned char>(c)) & 0xff] ^ (sum >> 8);
  return sum ^ 0xffffffffu;
}

std::string big_endian(std::uint32_t number) {
  return {static_cast<char>(number >> 24), static_cast<char>(number >> 16 & 0xff),
          static_cast<char>(number >> 8 & 0xff), static_cast<char>(number & 0xff)};
}

}  // namespace

std::string png_with_text(const std::string& png, std::string_view key, std::string_view text) {
  // The last chunk, IEND, has twelve bytes and no content.
  constexpr std::size_t kEnd = 12;
  if (!png.starts_with(kSignature) || png.size() < kSignature.size() + kEnd ||
      png.compare(png.size() - 8, 4, "IEND") != 0)
    fail("a picture must be a whole PNG to get a text");
  bool plain = true;
  for (const char c : text) plain = plain && static_cast<unsigned char>(c) < 0x80;
  std::string chunk = plain ? "tEXt" : "iTXt";
  chunk += key;
  chunk += '\0';
  if (!plain) chunk.append(4, '\0');  // not compressed; no language, no translated key
  chunk += text;
  return png.substr(0, png.size() - kEnd) +
         big_endian(static_cast<std::uint32_t>(chunk.size() - 4)) + chunk + big_endian(crc(chunk)) +
         png.substr(png.size() - kEnd);
}

}  // namespace shellgame
