#include "shellgame/system/onednn_isa.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace shellgame {
namespace {

class OnednnIsa : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void clear() {
    for (const char* name : {"DNNL_MAX_CPU_ISA", "ONEDNN_MAX_CPU_ISA", "SHELLGAME_PRETEND_TILES"})
      unsetenv(name);
  }
  static std::string told() {
    const char* value = std::getenv("DNNL_MAX_CPU_ISA");
    return value == nullptr ? "" : value;
  }
};

TEST_F(OnednnIsa, IsHeldBelowTilesWhereThereAreSome) {
  static_assert(onednn_isa_for(/*tiles=*/true) == "AVX512_CORE_BF16");
  static_assert(onednn_isa_for(/*tiles=*/false).empty());
  choose_onednn_isa(false);
  EXPECT_EQ(told(), "");
  choose_onednn_isa(true);
  EXPECT_EQ(told(), "AVX512_CORE_BF16");
}

TEST_F(OnednnIsa, WhatTheUserSaysStays) {
  setenv("DNNL_MAX_CPU_ISA", "AVX2", 1);
  choose_onednn_isa(true);
  EXPECT_EQ(told(), "AVX2");
  clear();
  setenv("ONEDNN_MAX_CPU_ISA", "ALL", 1);
  choose_onednn_isa(true);
  EXPECT_EQ(told(), "");
}

TEST_F(OnednnIsa, TilesCanBePretended) {
  setenv("SHELLGAME_PRETEND_TILES", "1", 1);
  EXPECT_TRUE(processor_has_tiles());
  setenv("SHELLGAME_PRETEND_TILES", "0", 1);
  EXPECT_FALSE(processor_has_tiles());
}

}  // namespace
}  // namespace shellgame
