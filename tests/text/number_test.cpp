#include "shellgame/text/number.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/system/memory.h"
#include "shellgame/system/saturating.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using ::testing::HasSubstr;

TEST(NumberBounds, BothEndsAreInsideAndWhatIsBeyondThemIsNot) {
  constexpr auto kBounds = NumberBounds::whole(2, 9);
  for (const char* inside : {"2", "5", "9"}) EXPECT_TRUE(kBounds.accepts(inside)) << inside;
  for (const char* outside : {"1", "10", "-2", "18446744073709551615", "18446744073709551618",
                              "-18446744073709551614", "99999999999999999999999"})
    EXPECT_FALSE(kBounds.accepts(outside)) << outside;
  constexpr auto kReal = NumberBounds::real(-0.5, 1);
  for (const char* inside : {"-0.5", "0", "1", "1e-3", "1.0"}) EXPECT_TRUE(kReal.accepts(inside));
  for (const char* outside : {"-0.51", "1.0000001", "nan", "-nan", "inf", "-inf", "1e999"})
    EXPECT_FALSE(kReal.accepts(outside)) << outside;
}

TEST(NumberBounds, OnlyAWholeTextIsANumber) {
  constexpr auto kBounds = NumberBounds::whole(0, 1000);
  for (const char* text : {"", " ", "x", " 1", "1 ", "+1", "1x", "1.0", "1e2", "0x10", "-", "--1"})
    EXPECT_FALSE(kBounds.accepts(text)) << text;
  // Decimal, whatever it begins with.
  EXPECT_EQ(kBounds.parse<int>("n", "010"), 10);
  EXPECT_FALSE(NumberBounds::real(0, 9).accepts("1,5"));
}

TEST(NumberBounds, TheLargestNumbersAreNotRounded) {
  constexpr auto kBounds = NumberBounds::whole(0, kMostUnsigned - 1);
  EXPECT_TRUE(kBounds.accepts("18446744073709551614"));
  EXPECT_FALSE(kBounds.accepts("18446744073709551615"));
  EXPECT_EQ(kSeedBounds.parse<std::uint64_t>("s", "18446744073709551615"), kMostUnsigned);
  constexpr auto kSigned = NumberBounds::whole(INT64_MIN, kMostSigned);
  EXPECT_EQ(kSigned.parse<std::int64_t>("s", "-9223372036854775808"), INT64_MIN);
  EXPECT_FALSE(kSigned.accepts("9223372036854775808"));
}

TEST(NumberBounds, TheSentenceSaysWhatMustHoldAndWhatWasReceived) {
  EXPECT_EQ(NumberBounds::whole(1, 1'000'000).check("--count", "0"),
            "--count must be a whole number from 1 to 1000000, not '0'");
  EXPECT_EQ(NumberBounds::real(0, 1).check("p", "nan"),
            "p must be a number from 0 to 1, not 'nan'");
  EXPECT_EQ(NumberBounds::whole(1, 9).check("n", "3"), "");
  EXPECT_EQ(kCountBounds.range(), "from 0 to 2^63 - 1");
  EXPECT_EQ(kSeedBounds.range(), "from 0 to 2^64 - 1");
  EXPECT_EQ(NumberBounds::real(0, HUGE_VAL).range(), "of at least 0");
  try {
    NumberBounds::whole(1, 9).parse<int>("n", "10");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("n must be a whole number from 1 to 9, not '10'"));
  }
}

TEST(NumberBounds, ATypeMustHoldWhatItsBoundsAllow) {
  EXPECT_TRUE(NumberBounds::whole(0, INT32_MAX).fit<int>());
  EXPECT_FALSE(NumberBounds::whole(0, std::uint64_t{INT32_MAX} + 1).fit<int>());
  EXPECT_FALSE(NumberBounds::whole(-1, 5).fit<std::uint64_t>());
  EXPECT_FALSE(kSeedBounds.fit<std::int64_t>());
  EXPECT_FALSE(NumberBounds::real(0, 1).fit<int>());
  EXPECT_FALSE(NumberBounds::whole(0, 1).fit<double>());
}

TEST(Saturating, WhatIsTooLargeStaysTooLarge) {
  constexpr std::int64_t kMost = INT64_MAX;
  EXPECT_EQ(saturating_multiply<std::int64_t>(1 << 20, 1 << 20), std::int64_t{1} << 40);
  EXPECT_EQ(saturating_multiply(kMost, std::int64_t{2}), kMost);
  EXPECT_EQ(saturating_multiply(kMost, std::int64_t{-2}), INT64_MIN);
  EXPECT_EQ(saturating_multiply(kMostUnsigned, std::uint64_t{2}, 3, 0), 0u);
  EXPECT_EQ(saturating_multiply(std::uint64_t{1} << 40, std::uint64_t{1} << 40, 7), kMostUnsigned);
  EXPECT_EQ(saturating_add(kMost, kMost), kMost);
  EXPECT_EQ(saturating_add(INT64_MIN, std::int64_t{-1}), INT64_MIN);
  EXPECT_EQ(saturating_add(kMostUnsigned, std::uint64_t{1}), kMostUnsigned);
  EXPECT_EQ(saturating_cast<std::int64_t>(1e30), kMost);
  EXPECT_EQ(saturating_cast<std::int64_t>(-1e30), INT64_MIN);
  EXPECT_EQ(saturating_cast<std::int64_t>(0x1p63), kMost);
  EXPECT_EQ(saturating_cast<std::uint64_t>(HUGE_VAL), kMostUnsigned);
  EXPECT_EQ(saturating_cast<std::uint64_t>(NAN), kMostUnsigned);
  EXPECT_EQ(saturating_cast<int>(-2.7), -2);
}

TEST(Memory, WhatDoesNotFitIsRefusedWithBothNumbers) {
  EXPECT_NO_THROW(require_memory(1 << 20, "a mebibyte"));
  if (available_memory() == 0) GTEST_SKIP() << "the system does not say what it has";
  try {
    require_memory(std::uint64_t{1} << 62, "a table");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 1);
    EXPECT_THAT(error.what(), HasSubstr("a table must fit in memory: about 4096 PiB needed"));
    EXPECT_THAT(error.what(), HasSubstr("available"));
  }
}

}  // namespace
}  // namespace shellgame
