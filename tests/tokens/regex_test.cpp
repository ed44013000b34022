#include "shellgame/tokens/regex.h"

#include <gtest/gtest.h>

#include <chrono>

#include "shellgame/text/error.h"

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

// All starts together, and all matches of a text: the limit of one match saw neither.
TEST(Regex, APatternOfQuadraticTimeIsAnErrorSoon) {
  const std::string text(100'000, 'a');
  for (const char* pattern : {"[a-z]+\\d", "[a-z]*[a-z]*\\d", "(?:[a-z][a-z]*)+\\d",
                              "(?>[a-z]+)\\d", "[a-z]+?\\d", "a(?=.*b)|a", "a{9000}b|a"}) {
    const Regex regex(pattern);
    const auto begin = std::chrono::steady_clock::now();
    const auto all = [&] {
      std::size_t from = 0;
      RegexBudget budget(text.size());
      while (const auto match = regex.find(text, from, budget)) from = match->end;
    };
    EXPECT_THROW(all(), Error) << pattern;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << pattern;
  }
}

TEST(Regex, ARepeatThatFailsHalfwayCosts) {
  const Regex regex("a{9000}[bd]");
  std::string text;
  for (int i = 0; i < 4; ++i) text.append(8'999, 'a').push_back('c');
  EXPECT_THROW(regex.find(text, 0), Error);
}

TEST(Regex, PatternsOfTokenizersTakeMegabytes) {
  const Regex gpt2(
      "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+");
  const Regex llama3(
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| "
      "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+");
  std::string words;
  while (words.size() < 1 << 20) words += "if random() < 0.5: a, b = b, a\n...   \n\n  ";
  for (const std::string& text : {words, std::string(1 << 20, ' '), std::string(1 << 20, 'a'),
                                  std::string(1 << 20, '\n'), std::string(1 << 20, '7')}) {
    for (const Regex* regex : {&gpt2, &llama3}) {
      RegexBudget budget(text.size());
      std::size_t from = 0;
      while (const auto match = regex->find(text, from, budget)) {
        ASSERT_EQ(match->begin, from);
        from = match->end;
      }
      EXPECT_EQ(from, text.size());
    }
  }
}

TEST(Regex, ALongMatchOfAGroupIsFound) {
  const Regex regex("(?:\\p{L}\\p{M}*)+");
  const std::string text(200000, 'a');
  EXPECT_EQ(regex.find(text, 0), (Span{0, text.size()}));
}

}  // namespace
}  // namespace shellgame
