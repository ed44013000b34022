#include "shellgame/kernels/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/system/error.h"

namespace shellgame {
namespace {

TEST(Targets, EachNameCanBeChosen) {
  ASSERT_FALSE(simd_targets().empty());
  for (const std::string& name : simd_targets()) EXPECT_NO_THROW(use_simd_target(name));
  use_best_simd_target();
}

TEST(Targets, AnUnknownNameIsRefusedWithTheKnownOnes) {
  try {
    use_simd_target("MMX");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(simd_targets().front()));
    EXPECT_THAT(error.what(), testing::HasSubstr("'MMX'"));
  }
}

}  // namespace
}  // namespace shellgame
