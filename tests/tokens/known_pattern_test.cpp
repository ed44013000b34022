#include "shellgame/tokens/known_pattern.h"

#include <gtest/gtest.h>
#include <unicode/uchar.h>

#include <random>
#include <vector>

#include "shellgame/text/utf8.h"
#include "shellgame/tokens/regex.h"

namespace shellgame {
namespace {

// Characters that the patterns tell apart, and any others that PCRE2's older Unicode data know.
char32_t random_character(std::mt19937& random) {
  static const std::u32string special =
      U"'sStTrReEvVmMlLdD\u017f\u212a 0123456789\t\n\r\v\f\u0085\u00a0\u1680\u180e\u2003\u2028"
      U"\u202f\u3000\u200b\u200d\u0301\u00e9\u00df\u0130\u00bd\u0663\u2460\u65e5\uac00\U0001F642_-."
      U",()<>=";
  switch (random() % 8) {
    case 0:
      for (;;) {
        const auto c = static_cast<char32_t>(random() % 0x110000);
        UVersionInfo age;
        u_charAge(static_cast<UChar32>(c), age);
        if (age[0] > 0 && age[0] < 14 && (c < 0xD800 || c >= 0xE000)) return c;
      }
    case 1:
    case 2:
      return static_cast<char32_t>(random() % 128);
    case 3:
      return U" \n\r'"[random() % 4];
    default:
      return special[random() % special.size()];
  }
}

class KnownPatterns : public testing::TestWithParam<KnownPattern> {};

TEST_P(KnownPatterns, AgreeWithPcre2OnRandomText) {
  const Regex regex(regex_of(GetParam()));
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  for (int round = 0; round < 60000; ++round) {
    std::string text;
    for (std::size_t i = random() % 24; i > 0; --i) append_utf8(text, random_character(random));
    for (std::size_t begin = 0; begin < text.size();) {
      const auto match = regex.find(text, begin);
      ASSERT_TRUE(match.has_value());
      ASSERT_EQ(match->begin, begin) << "matches have no gaps";
      ASSERT_EQ(match_end(GetParam(), text, begin), match->end) << testing::PrintToString(text);
      begin = match->end;
    }
  }
}

TEST_P(KnownPatterns, CutInBatchesOfAnySize) {
  const std::string text = "It's 12345 o'clock,\r\n  and 'LL \u00e9t\u00e9...\n\n x ";
  std::vector<std::uint32_t> wanted;
  for (std::size_t begin = 0; begin < text.size(); begin = wanted.back())
    wanted.push_back(static_cast<std::uint32_t>(match_end(GetParam(), text, begin)));
  for (const std::size_t capacity : {1u, 2u, 3u, 7u, 100u}) {
    std::vector<std::uint32_t> ends, batch(capacity);
    for (std::size_t begin = 0; begin < text.size(); begin = ends.back()) {
      const std::size_t count = cut(GetParam(), text, begin, batch.data(), capacity);
      ends.insert(ends.end(), batch.data(), batch.data() + count);
    }
    EXPECT_EQ(ends, wanted);
  }
}

TEST_P(KnownPatterns, AreKnownByTheirWholeText) {
  EXPECT_EQ(known_pattern(regex_of(GetParam())), GetParam());
  EXPECT_EQ(known_pattern(std::string(regex_of(GetParam())) + "|x"), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(All, KnownPatterns,
                         testing::Values(KnownPattern::kGpt2, KnownPattern::kQwen2,
                                         KnownPattern::kLlama3));

}  // namespace
}  // namespace shellgame
