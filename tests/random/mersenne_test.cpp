#include "shellgame/random/mersenne.h"

#include <gtest/gtest.h>

#include <array>

namespace shellgame {
namespace {

// Printed by CPython 3.11 for each seed: three times random(), random() after 700 more,
// getrandbits(1), (5) and (32), sample(range(9), k=9), sample(range(30), k=30).
struct Numbers {
  std::uint64_t seed;
  std::array<double, 3> first;
  double later;
  std::array<std::uint32_t, 3> bits;
  std::vector<std::uint32_t> sample9, sample30;
};

const std::vector<Numbers> kNumbers = {
    {0u,
     {0x1.b0580f98a7dbep-1, 0x1.84129978f9c1ap-1, 0x1.aeaa51052e978p-2},
     0x1.399a7c058b571p-1,
     {1u, 27u, 2199532842u},
     {4, 5, 3, 6, 0, 7, 2, 1, 8},
     {8,  22, 15, 6,  10, 29, 1,  23, 28, 5,  11, 0,  9,  18, 4,
      21, 12, 26, 25, 3,  17, 13, 19, 7,  14, 2,  16, 27, 24, 20}},
    {1u,
     {0x1.132d8f91b7584p-3, 0x1.b1e2d5b3584f8p-1, 0x1.870d778409f13p-1},
     0x1.66016836d83b4p-2,
     {1u, 22u, 2406288042u},
     {8, 0, 2, 4, 3, 1, 6, 5, 7},
     {22, 8,  23, 19, 27, 24, 2,  28, 5,  3,  4,  1, 6,  13, 18,
      0,  10, 15, 29, 7,  11, 21, 12, 25, 14, 16, 9, 26, 20, 17}},
    {12345u,
     {0x1.aa9e665dc8a18p-2, 0x1.4d392d1f6f840p-7, 0x1.a68177b361de3p-1},
     0x1.201509e42ccebp-1,
     {0u, 25u, 1377792018u},
     {3, 6, 7, 2, 4, 0, 5, 8, 1},
     {19, 22, 9, 4,  26, 13, 18, 28, 6,  14, 10, 5,  24, 11, 25,
      23, 3,  7, 16, 21, 12, 15, 17, 27, 0,  1,  29, 20, 2,  8}},
    {4294967295u,
     {0x1.454d9227a7013p-1, 0x1.a0274a3720bf8p-3, 0x1.36f8c1616ef77p-1},
     0x1.304a4f9b39b88p-4,
     {1u, 1u, 3168970197u},
     {7, 2, 8, 5, 1, 4, 3, 0, 6},
     {15, 19, 21, 7, 22, 24, 10, 16, 20, 12, 13, 9,  1,  3,  23,
      0,  25, 8,  4, 26, 6,  28, 2,  18, 27, 17, 11, 29, 14, 5}},
    {4294967296u,
     {0x1.ced31cb3df170p-4, 0x1.abdb5477a4f26p-2, 0x1.1139c02ebd380p-6},
     0x1.8b55ec14b8650p-3,
     {1u, 2u, 2531731515u},
     {1, 0, 8, 5, 4, 2, 6, 3, 7},
     {22, 9, 13, 15, 23, 18, 16, 24, 4,  6,  20, 7, 0,  2, 28,
      25, 1, 8,  27, 26, 21, 17, 14, 10, 19, 11, 3, 29, 5, 12}},
    {8589934669u,
     {0x1.5753512c910c2p-2, 0x1.20780a2df9b90p-2, 0x1.d30a2521b0476p-2},
     0x1.f0e3a3d350ecep-1,
     {1u, 14u, 857613545u},
     {7, 5, 2, 6, 8, 4, 1, 3, 0},
     {7,  13, 18, 24, 27, 15, 20, 17, 9,  8,  14, 10, 6,  2,  5,
      23, 29, 1,  0,  3,  4,  12, 28, 21, 16, 22, 19, 11, 25, 26}},
    {18446744073709551615u,
     {0x1.659799fd7f980p-6, 0x1.5a35a94f333d8p-2, 0x1.b21c0274c09a4p-3},
     0x1.825cb58757895p-1,
     {1u, 11u, 57320555u},
     {0, 7, 8, 1, 5, 4, 6, 3, 2},
     {15, 26, 3,  17, 21, 29, 28, 27, 7, 0, 22, 18, 5, 4, 13,
      10, 11, 16, 20, 24, 25, 12, 19, 8, 6, 9,  23, 1, 2, 14}},
};

TEST(PythonRandom, GivesCPythonsNumbers) {
  for (const Numbers& numbers : kNumbers) {
    SCOPED_TRACE(numbers.seed);
    PythonRandom random(numbers.seed);
    for (const double number : numbers.first) EXPECT_EQ(random.random(), number);
    for (int i = 0; i < 700; ++i) random.random();
    EXPECT_EQ(random.random(), numbers.later);
    EXPECT_EQ(random.getrandbits(1), numbers.bits[0]);
    EXPECT_EQ(random.getrandbits(5), numbers.bits[1]);
    EXPECT_EQ(random.getrandbits(32), numbers.bits[2]);
    EXPECT_EQ(random.sample_all(9), numbers.sample9);
    EXPECT_EQ(random.sample_all(30), numbers.sample30);
  }
}

}  // namespace
}  // namespace shellgame
