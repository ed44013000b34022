#include "shellgame/episodes/token_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/tokens/tokenizer.h"

namespace shellgame {
namespace {

std::vector<std::string> kinds_of(const std::string& text, const std::string& tokenizer) {
  std::vector<std::uint32_t> ids, offsets;
  open_tokenizer(tokenizer)->encode_with_offsets(text, ids, offsets);
  std::vector<std::string> names;
  for (const TokenKind kind : token_kinds(text, offsets)) names.emplace_back(to_string(kind));
  return names;
}

TEST(TokenKinds, EveryPartOfATraceHasItsKind) {
  EXPECT_THAT(kinds_of(">>> a = 2\n>>> a, b = b, a\n>>> print('a', a)\na 1\n", "lexeme"),
              testing::ElementsAre("prompt", "left variable", "=", "assigned value", "newline",
                                   "prompt", "left variable", "left comma", "left variable", "=",
                                   "right variable", "right comma", "right variable", "newline",
                                   "prompt", "print", "name", "other", "other", "name", "other",
                                   "newline", "name", "space", "value", "newline"));
}

TEST(TokenKinds, ACommandUnderAConditionHasItsSides) {
  EXPECT_THAT(kinds_of(">>> if random() < 0.5: a, b = b, a\n", "lexeme"),
              testing::IsSupersetOf({"left variable", "left comma", "=", "right variable"}));
}

TEST(TokenKinds, BytesPlayThePartOfTheirLexeme) {
  EXPECT_THAT(kinds_of(">>> a = 2\n", "bytes"),
              testing::ElementsAre("prompt", "prompt", "prompt", "prompt", "left variable", "=",
                                   "=", "=", "assigned value", "newline"));
}

TEST(TokenKinds, LinesThatAreNoLexemesKeepPromptAndNewline) {
  const std::vector<std::string> kinds = kinds_of(">>> a = 'Heart'\n", "bytes");
  EXPECT_EQ(kinds.front(), "prompt");
  EXPECT_EQ(kinds[5], "other");
  EXPECT_EQ(kinds.back(), "newline");
}

}  // namespace
}  // namespace shellgame
