#include "shellgame/random/philox.h"

#include <gtest/gtest.h>

#include <vector>

namespace shellgame {
namespace {

// Known answers of the Random123 distribution (kat_vectors, philox4x32 with 10 rounds).
TEST(Philox, GivesThePublishedKnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, 0, 0),
            (PhiloxBlock{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
  EXPECT_EQ(
      philox4x32({0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}, 0xffffffffu, 0xffffffffu),
      (PhiloxBlock{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
  EXPECT_EQ(
      philox4x32({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, 0xa4093822u, 0x299f31d0u),
      (PhiloxBlock{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}));
}

TEST(RandomStream, IsTheBlocksInOrder) {
  const std::uint64_t seed = 0x299f31d0a4093822u, index = 0x0370734413198a2eu;
  RandomStream stream(seed, index, Lane::kSequence);
  for (std::uint32_t block = 0; block < 40; ++block) {
    const PhiloxBlock expected =
        philox4x32({block, 2u, 0x13198a2eu, 0x03707344u}, 0xa4093822u, 0x299f31d0u);
    for (std::uint32_t word : expected) EXPECT_EQ(stream.next(), word) << "block " << block;
  }
}

TEST(RandomStream, BelowIsUniform) {
  // 60,000 draws in 6 cells: chi-squared with 5 degrees of freedom passes 30 with probability 1e-5.
  RandomStream stream(1, 2);
  std::vector<double> cells(6);
  for (int i = 0; i < 60000; ++i) cells[stream.below(6)] += 1;
  double chi_squared = 0;
  for (double count : cells) chi_squared += (count - 10000) * (count - 10000) / 10000;
  EXPECT_LT(chi_squared, 30);
  EXPECT_GT(chi_squared, 0);
}

TEST(RandomStream, LanesAndIndicesDiffer) {
  RandomStream a(1, 2), b(1, 3), c(1, 2, Lane::kPythonSeed), d(2, 2);
  const std::uint32_t first = a.next();
  EXPECT_NE(first, b.next());
  EXPECT_NE(first, c.next());
  EXPECT_NE(first, d.next());
}

}  // namespace
}  // namespace shellgame
