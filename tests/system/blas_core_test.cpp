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

TEST(WaitingThreads, SleepUnlessTheUserSaysOtherwise) {
  setenv("OMP_WAIT_POLICY", "active", 1);
  unsetenv("OPENBLAS_THREAD_TIMEOUT");
  let_waiting_threads_sleep();
  EXPECT_EQ(std::string(std::getenv("OMP_WAIT_POLICY")), "active");
  ASSERT_NE(std::getenv("OPENBLAS_THREAD_TIMEOUT"), nullptr);
  EXPECT_EQ(std::string(std::getenv("OPENBLAS_THREAD_TIMEOUT")), "4");
  unsetenv("OMP_WAIT_POLICY");
  unsetenv("OPENBLAS_THREAD_TIMEOUT");
}

}  // namespace
}  // namespace shellgame
