#include "shellgame/system/checksum.h"

#include <array>
#include <cstring>

namespace shellgame {
namespace {

// Eight bytes at a time: table[k][b] is the checksum of byte b followed by k zeros.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

Tables make_tables() {
  Tables tables{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78u : 0u);
    tables[0][b] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t b = 0; b < 256; ++b)
      tables[k][b] = (tables[k - 1][b] >> 8) ^ tables[0][tables[k - 1][b] & 0xFF];
  }
  return tables;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  static const Tables tables = make_tables();
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  std::uint32_t crc = ~before;
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    const std::uint32_t low =
        crc ^ (static_cast<std::uint32_t>(byte(i)) | static_cast<std::uint32_t>(byte(i + 1)) << 8 |
               static_cast<std::uint32_t>(byte(i + 2)) << 16 |
               static_cast<std::uint32_t>(byte(i + 3)) << 24);
    crc = tables[7][low & 0xFF] ^ tables[6][(low >> 8) & 0xFF] ^ tables[5][(low >> 16) & 0xFF] ^
          tables[4][low >> 24] ^ tables[3][byte(i + 4)] ^ tables[2][byte(i + 5)] ^
          tables[1][byte(i + 6)] ^ tables[0][byte(i + 7)];
  }
  for (; i < bytes.size(); ++i) crc = (crc >> 8) ^ tables[0][(crc ^ byte(i)) & 0xFF];
  return ~crc;
}

}  // namespace shellgame
