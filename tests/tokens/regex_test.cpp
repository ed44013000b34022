#include "shellgame/tokens/regex.h"

#include <gtest/gtest.h>

#include "shellgame/system/error.h"

namespace shellgame {
namespace {

TEST(Regex, FindsFromAPlaceOnward) {
  const Regex regex("a+");
  EXPECT_EQ(regex.find("xaaya", 0), (Span{1, 3}));
  EXPECT_EQ(regex.find("xaaya", 2), (Span{2, 3}));
  EXPECT_EQ(regex.find("xaaya", 3), (Span{4, 5}));
  EXPECT_EQ(regex.find("xaaya", 5), std::nullopt);
}

TEST(Regex, WhiteSpaceIsThatOfUnicode) {
  const Regex regex("\\s");
  EXPECT_TRUE(regex.find("\u3000", 0));
  EXPECT_TRUE(regex.find("\u0085", 0));
  EXPECT_FALSE(regex.find("\u180e", 0)) << "PCRE2's own \\s has it, Oniguruma's has not";
}

TEST(Regex, RefusesWhatOnigurumaReadsDifferently) {
  for (const char* pattern :
       {"[[:alpha:]]", "[a&&b]", "[a[bc]]", "\\R",      "\\X",     "\\K", "\\G",     "\\1",
        "(?<name>a)",  "(?R)",   "(?C)",    "(*UTF)a",  "a{,3}",   "{",   "a{1,2}+", "a{2}?",
        "x(?i)a|b",    "(?x) a", "[\\W]",   "\\xff",    "\\p{L&}", "\\p", "[",       "[]",
        "\\",          "\\u12",  "(?",      "(?P<a>b)", "\\N",     "\\C", "\\Q",     "\\g1"})
    EXPECT_THROW(Regex{pattern}, Error) << pattern;
}

TEST(Regex, RefusesWhatIsNoPattern) {
  for (const char* pattern : {"(", ")", "a(", "*", "\\p{Nonsense}", "(?<=a*)b", "[b-a]"})
    EXPECT_THROW(Regex{pattern}, Error) << pattern;
  EXPECT_THROW(Regex(std::string(20000, 'a')), Error);
  EXPECT_THROW(Regex(std::string(5000, '(') + std::string(5000, ')')), Error);
  EXPECT_THROW(Regex("(?:(?:(?:a{500}){500}){500}){500}"), Error);
}

TEST(Regex, APatternThatBacktracksWithoutEndIsAnError) {
  const Regex regex("(?:a+)+b|(?:a|aa)+c");
  EXPECT_THROW(regex.find(std::string(5000, 'a') + "x", 0), Error);
  EXPECT_TRUE(regex.find("aaab", 0));
}

TEST(Regex, ALongMatchOfAGroupIsFound) {
  const Regex regex("(?:\\p{L}\\p{M}*)+");
  const std::string text(200000, 'a');
  EXPECT_EQ(regex.find(text, 0), (Span{0, text.size()}));
}

}  // namespace
}  // namespace shellgame
