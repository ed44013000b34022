#include "shellgame/kernels/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

TEST(Targets, EachNameCanBeChosen) {
  ASSERT_FALSE(simd_targets().empty());
  for (const std::string& name : simd_targets()) EXPECT_NO_THROW(use_simd_target(name));
  use_best_simd_target();
}

// Training and measurements write down which one is in use: asking must not change it.
TEST(Targets, AChoiceStaysWhenTargetsAreAskedFor) {
  const std::string last = simd_targets().back();
  use_simd_target(last);
  EXPECT_GE(simd_targets().size(), 1u);
  EXPECT_EQ(simd_target_in_use(), last);
  EXPECT_EQ(std::string(hwy::TargetName(hwy::SupportedTargets() & HWY_TARGETS)), last);
  use_best_simd_target();
  EXPECT_EQ(simd_target_in_use(), simd_targets().front());
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
