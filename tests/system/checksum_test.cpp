#include "shellgame/system/checksum.h"

#include <gtest/gtest.h>

#include <string>

namespace shellgame {
namespace {

// The check value of the catalogue of CRC algorithms, and the examples of RFC 3720, B.4.
TEST(Crc32c, HasThePublishedValues) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43u);
  std::string rising;
  for (int i = 0; i < 32; ++i) rising += static_cast<char>(i);
  EXPECT_EQ(crc32c(rising), 0x46DD794Eu);
}

TEST(Crc32c, GoesOnWhereItStopped) {
  const std::string text = "a text of some length that is cut at every place";
  for (std::size_t cut = 0; cut <= text.size(); ++cut)
    EXPECT_EQ(crc32c(text.substr(cut), crc32c(text.substr(0, cut))), crc32c(text));
}

}  // namespace
}  // namespace shellgame
