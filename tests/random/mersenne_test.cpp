#include "shellgame/random/mersenne.h"

#include <gtest/gtest.h>

namespace shellgame {
namespace {

// Printed by CPython 3.11: random.seed(s); [random.random() for _ in range(3)].
TEST(PythonRandom, GivesCPythonsNumbers) {
  {
    PythonRandom r(0u);
    EXPECT_EQ(r.random(), 0x1.b0580f98a7dbep-1);
    EXPECT_EQ(r.random(), 0x1.84129978f9c1ap-1);
    EXPECT_EQ(r.random(), 0x1.aeaa51052e978p-2);
    for (int i = 0; i < 700; ++i) r.random();
    EXPECT_EQ(r.random(), 0x1.399a7c058b571p-1);
    EXPECT_EQ(r.getrandbits(1), 1u);
    EXPECT_EQ(r.getrandbits(5), 27u);
    EXPECT_EQ(r.getrandbits(32), 2199532842u);
    EXPECT_EQ(r.sample_all(9), (std::vector<std::uint32_t>{4, 5, 3, 6, 0, 7, 2, 1, 8}));
    EXPECT_EQ(r.sample_all(30), (std::vector<std::uint32_t>{
                                    8,  22, 15, 6,  10, 29, 1,  23, 28, 5,  11, 0,  9,  18, 4,
                                    21, 12, 26, 25, 3,  17, 13, 19, 7,  14, 2,  16, 27, 24, 20}));
  }
  {
    PythonRandom r(1u);
    EXPECT_EQ(r.random(), 0x1.132d8f91b7584p-3);
    EXPECT_EQ(r.random(), 0x1.b1e2d5b3584f8p-1);
    EXPECT_EQ(r.random(), 0x1.870d778409f13p-1);
    for (int i = 0; i < 700; ++i) r.random();
    EXPECT_EQ(r.random(), 0x1.66016836d83b4p-2);
    EXPECT_EQ(r.getrandbits(1), 1u);
    EXPECT_EQ(r.getrandbits(5), 22u);
    EXPECT_EQ(r.getrandbits(32), 2406288042u);
    EXPECT_EQ(r.sample_all(9), (std::vector<std::uint32_t>{8, 0, 2, 4, 3, 1, 6, 5, 7}));
    EXPECT_EQ(r.sample_all(30), (std::vector<std::uint32_t>{
                                    22, 8,  23, 19, 27, 24, 2,  28, 5,  3,  4,  1, 6,  13, 18,
                                    0,  10, 15, 29, 7,  11, 21, 12, 25, 14, 16, 9, 26, 20, 17}));
  }
  {
    PythonRandom r(12345u);
    EXPECT_EQ(r.random(), 0x1.aa9e665dc8a18p-2);
    EXPECT_EQ(r.random(), 0x1.4d392d1f6f840p-7);
    EXPECT_EQ(r.random(), 0x1.a68177b361de3p-1);
    for (int i = 0; i < 700; ++i) r.random();
    EXPECT_EQ(r.random(), 0x1.201509e42ccebp-1);
    EXPECT_EQ(r.getrandbits(1), 0u);
    EXPECT_EQ(r.getrandbits(5), 25u);
    EXPECT_EQ(r.getrandbits(32), 1377792018u);
    EXPECT_EQ(r.sample_all(9), (std::vector<std::uint32_t>{3, 6, 7, 2, 4, 0, 5, 8, 1}));
    EXPECT_EQ(r.sample_all(30), (std::vector<std::uint32_t>{
                                    19, 22, 9, 4,  26, 13, 18, 28, 6,  14, 10, 5,  24, 11, 25,
                                    23, 3,  7, 16, 21, 12, 15, 17, 27, 0,  1,  29, 20, 2,  8}));
  }
  {
    PythonRandom r(4294967295u);
    EXPECT_EQ(r.random(), 0x1.454d9227a7013p-1);
    EXPECT_EQ(r.random(), 0x1.a0274a3720bf8p-3);
    EXPECT_EQ(r.random(), 0x1.36f8c1616ef77p-1);
    for (int i = 0; i < 700; ++i) r.random();
    EXPECT_EQ(r.random(), 0x1.304a4f9b39b88p-4);
    EXPECT_EQ(r.getrandbits(1), 1u);
    EXPECT_EQ(r.getrandbits(5), 1u);
    EXPECT_EQ(r.getrandbits(32), 3168970197u);
    EXPECT_EQ(r.sample_all(9), (std::vector<std::uint32_t>{7, 2, 8, 5, 1, 4, 3, 0, 6}));
    EXPECT_EQ(r.sample_all(30), (std::vector<std::uint32_t>{
                                    15, 19, 21, 7, 22, 24, 10, 16, 20, 12, 13, 9,  1,  3,  23,
                                    0,  25, 8,  4, 26, 6,  28, 2,  18, 27, 17, 11, 29, 14, 5}));
  }
  {
    PythonRandom r(4294967296u);
    EXPECT_EQ(r.random(), 0x1.ced31cb3df170p-4);
    EXPECT_EQ(r.random(), 0x1.abdb5477a4f26p-2);
    EXPECT_EQ(r.random(), 0x1.1139c02ebd380p-6);
    for (int i = 0; i < 700; ++i) r.random();
    EXPECT_EQ(r.random(), 0x1.8b55ec14b8650p-3);
    EXPECT_EQ(r.getrandbits(1), 1u);
    EXPECT_EQ(r.getrandbits(5), 2u);
    EXPECT_EQ(r.getrandbits(32), 2531731515u);
    EXPECT_EQ(r.sample_all(9), (std::vector<std::uint32_t>{1, 0, 8, 5, 4, 2, 6, 3, 7}));
    EXPECT_EQ(r.sample_all(30), (std::vector<std::uint32_t>{
                                    22, 9, 13, 15, 23, 18, 16, 24, 4,  6,  20, 7, 0,  2, 28,
                                    25, 1, 8,  27, 26, 21, 17, 14, 10, 19, 11, 3, 29, 5, 12}));
  }
  {
    PythonRandom r(8589934669u);
    EXPECT_EQ(r.random(), 0x1.5753512c910c2p-2);
    EXPECT_EQ(r.random(), 0x1.20780a2df9b90p-2);
    EXPECT_EQ(r.random(), 0x1.d30a2521b0476p-2);
    for (int i = 0; i < 700; ++i) r.random();
    EXPECT_EQ(r.random(), 0x1.f0e3a3d350ecep-1);
    EXPECT_EQ(r.getrandbits(1), 1u);
    EXPECT_EQ(r.getrandbits(5), 14u);
    EXPECT_EQ(r.getrandbits(32), 857613545u);
    EXPECT_EQ(r.sample_all(9), (std::vector<std::uint32_t>{7, 5, 2, 6, 8, 4, 1, 3, 0}));
    EXPECT_EQ(r.sample_all(30), (std::vector<std::uint32_t>{
                                    7,  13, 18, 24, 27, 15, 20, 17, 9,  8,  14, 10, 6,  2,  5,
                                    23, 29, 1,  0,  3,  4,  12, 28, 21, 16, 22, 19, 11, 25, 26}));
  }
  {
    PythonRandom r(18446744073709551615u);
    EXPECT_EQ(r.random(), 0x1.659799fd7f980p-6);
    EXPECT_EQ(r.random(), 0x1.5a35a94f333d8p-2);
    EXPECT_EQ(r.random(), 0x1.b21c0274c09a4p-3);
    for (int i = 0; i < 700; ++i) r.random();
    EXPECT_EQ(r.random(), 0x1.825cb58757895p-1);
    EXPECT_EQ(r.getrandbits(1), 1u);
    EXPECT_EQ(r.getrandbits(5), 11u);
    EXPECT_EQ(r.getrandbits(32), 57320555u);
    EXPECT_EQ(r.sample_all(9), (std::vector<std::uint32_t>{0, 7, 8, 1, 5, 4, 6, 3, 2}));
    EXPECT_EQ(r.sample_all(30),
              (std::vector<std::uint32_t>{15, 26, 3,  17, 21, 29, 28, 27, 7, 0, 22, 18, 5, 4, 13,
                                          10, 11, 16, 20, 24, 25, 12, 19, 8, 6, 9,  23, 1, 2, 14}));
  }
}

}  // namespace
}  // namespace shellgame
