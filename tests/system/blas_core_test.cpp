#include "shellgame/system/blas_core.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace shellgame {
namespace {

TEST(BlasCore, IsThatOfTheWidestVectorsAndOnlyForIntel) {
  EXPECT_EQ(blas_core_for(true, true, true), "SkylakeX");
  EXPECT_EQ(blas_core_for(true, true, false), "Haswell");
  EXPECT_EQ(blas_core_for(true, false, false), "");
  EXPECT_EQ(blas_core_for(false, true, true), "");
}

TEST(BlasCore, WhatTheUserSaysStays) {
  setenv("OPENBLAS_CORETYPE", "Nehalem", 1);
  choose_blas_core();
  EXPECT_EQ(std::string(std::getenv("OPENBLAS_CORETYPE")), "Nehalem");
  unsetenv("OPENBLAS_CORETYPE");
}

}  // namespace
}  // namespace shellgame
