#include "shellgame/tokens/lexeme_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using Ids = std::vector<std::uint32_t>;
using Texts = std::vector<std::string>;
using ::testing::HasSubstr;

Texts lexemes(std::string_view text) {
  Texts texts;
  for (const std::uint32_t id : LexemeTokenizer().encode(text))
    texts.push_back(LexemeTokenizer::vocabulary()[id]);
  return texts;
}

const std::string kLanguage = R"(>>> from random import random
>>> from random import sample
>>> from os import environ
>>> from service import fetch
>>> from service import start
>>> def work1(x1, x2): return (x2, x1) if random() < 0.5 else (x1, x2)
>>> def work2(x1, x2, x3): draw = random(); return (x2, x1, x3) if draw < 0.5 else (x3, x2, x1) if draw < 0.75 else (x1, x2, x3)
>>> a = 1
>>> b = 'red'
>>> a, b, c = sample((1, 2, 3), k=3)
>>> a, b, c = start(1, 2, 3)
>>> a, b = b, a
>>> a, b = work1(a, b)
>>> if random() < 0.5: a, b = b, a
>>> if (draw := random()) < 0.5: a, b = b, a
... elif draw < 0.75: b, c = c, b
... else: pass
>>> if float(environ['LOAD_1']) < 0.5: a, b = b, a
>>> if fetch() < 0.5: a, b = b, a
>>> if (draw := fetch()) < 0.5: a, b = b, a
>>> print('a', a)
a 2
>>> print('a', a, 'c', c)
a 2 c 3
>>> print(a, b, c)
2 1 3
>>> assert a == 2
>>> assert a != 'red'
>>> assert a in (1, 2)
>>> assert a in (1,)
>>> v27, v28 = v28, v27
>>> a = 'if random_2 -draw else 16'
)";

TEST(LexemeTokenizer, CoversTheWholeLanguage) {
  EXPECT_EQ(LexemeTokenizer().decode(LexemeTokenizer().encode(kLanguage)), kLanguage);
}

TEST(LexemeTokenizer, GivesTheCountsThatTheLanguagePromises) {
  EXPECT_EQ(lexemes(">>> a, b, c, d, e = e, a, b, c, d\n").size(), 21u);
  EXPECT_EQ(lexemes(">>> a = 1\n").size(), 5u);
  EXPECT_EQ(lexemes(">>> print('a', a)\na 1\n"),
            (Texts{">>> ", "print('", "a", "'", ", ", "a", ")", "\n", "a", " ", "1", "\n"}));
}

TEST(LexemeTokenizer, KeepsKeywordsWhole) {
  EXPECT_EQ(lexemes(">>> if (draw := random()) < 0.75: a, b = b, a\n"),
            (Texts{">>> ", "if ", "(draw := ", "random()", ")", " < ", "0", ".", "7", "5", ": ",
                   "a", ", ", "b", " = ", "b", ", ", "a", "\n"}));
  EXPECT_EQ(lexemes(">>> if float(environ['LOAD_12']) < 0.5: pass\n"),
            (Texts{">>> ", "if ", "float(environ['LOAD_", "12", "'])", " < ", "0", ".", "5", ": ",
                   "pass", "\n"}));
  EXPECT_EQ(lexemes(">>> v27 = 16\n"), (Texts{">>> ", "v", "2", "7", " = ", "16", "\n"}));
}

// Every letter and every number, in every place of a line where one can stand (@).
TEST(LexemeTokenizer, VariablesAndValuesAreOneTokenEverywhere) {
  const Texts places = {
      ">>> @, @ = @, @\n",
      ">>> @ = @\n",
      ">>> @, @ = work1(@, @)\n",
      ">>> @, @ = start(@, @)\n",
      "@ @ @ @\n",
      ">>> @, @ = sample((@, @), k=@)\n",
      ">>> print('@', @)\n",
      ">>> print('@', @, '@', @)\n",
      ">>> print(@, @)\n",
      ">>> assert @ == @\n",
      ">>> assert @ != '@'\n",
      ">>> assert @ in (@, @)\n",
      ">>> assert @ in (@,)\n",
      ">>> if random() < 0.5: @, @ = @, @\n",
      "... elif draw < 0.75: @, @ = @, @\n",
      "... else: @, @ = @, @\n",
      ">>> if (draw := fetch()) < 0.5: @, @ = @, @\n",
      ">>> def work1(x@, x@): return (x@, x@) if random() < 0.5 else (x@, x@)\n",
      ">>> if float(environ['LOAD_@']) < 0.5: @, @ = @, @\n",
  };
  Texts names;
  for (char letter = 'a'; letter <= 'z'; ++letter) names.emplace_back(1, letter);
  for (int number = 0; number <= 16; ++number) names.push_back(std::to_string(number));
  std::mt19937 random(1);
  for (const std::string& place : places) {
    for (int round = 0; round < 400; ++round) {
      std::string text;
      std::vector<std::pair<std::uint32_t, std::uint32_t>> wanted;  // offset, id
      for (const char byte : place) {
        if (byte != '@') {
          text += byte;
          continue;
        }
        const std::string& name = names[random() % names.size()];
        wanted.emplace_back(text.size(), LexemeTokenizer::id_of(name));
        text += name;
      }
      Ids ids, offsets;
      LexemeTokenizer().encode_with_offsets(text, ids, offsets);
      for (const auto& [offset, id] : wanted) {
        const auto at = std::find(offsets.begin(), offsets.end(), offset);
        ASSERT_NE(at, offsets.end()) << text;
        ASSERT_EQ(ids[static_cast<std::size_t>(at - offsets.begin())], id) << text;
      }
    }
  }
}

TEST(LexemeTokenizer, ValueStringsOfAnyAllowedCharactersRoundTrip) {
  const std::string allowed = "abcdefghijklmnopqrstuvwxyz0123456789 _-";
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    std::string text = ">>> a = '";
    for (std::size_t i = random() % 20; i > 0; --i) text += allowed[random() % allowed.size()];
    text += "'\n";
    EXPECT_EQ(LexemeTokenizer().decode(LexemeTokenizer().encode(text)), text);
  }
}

// Against a search that tries all lexemes at every place.
TEST(LexemeTokenizer, TakesTheLongestMatch) {
  const auto& vocabulary = LexemeTokenizer::vocabulary();
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i)
      text += vocabulary[LexemeTokenizer::kFirstLexeme +
                         random() % (vocabulary.size() - LexemeTokenizer::kFirstLexeme)];
    Texts wanted;
    for (std::size_t position = 0; position < text.size(); position += wanted.back().size()) {
      std::string longest;
      for (const std::string& lexeme : vocabulary)
        if (lexeme.size() > longest.size() && text.compare(position, lexeme.size(), lexeme) == 0)
          longest = lexeme;
      wanted.push_back(longest);
      if (longest.empty()) break;
    }
    if (wanted.back().empty()) {
      EXPECT_THROW(lexemes(text), Error) << text;
    } else {
      ASSERT_EQ(lexemes(text), wanted) << text;
    }
  }
}

TEST(LexemeTokenizer, LinesAreIndependent) {
  Ids apart;
  for (std::size_t begin = 0; begin < kLanguage.size();) {
    const std::size_t end = kLanguage.find('\n', begin) + 1;
    LexemeTokenizer().encode(kLanguage.substr(begin, end - begin), apart);
    begin = end;
  }
  EXPECT_EQ(LexemeTokenizer().encode(kLanguage), apart);
  for (const std::string& lexeme : LexemeTokenizer::vocabulary())
    EXPECT_TRUE(lexeme == "\n" || lexeme.find('\n') == std::string::npos);
}

TEST(LexemeTokenizer, SaysWhereAndWhatIsWrong) {
  Ids ids = {5};
  try {
    LexemeTokenizer().encode(">>> a = 1\n>>> B = 2\n", ids);
    FAIL() << "B is no lexeme";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"B = 2\""));
    EXPECT_THAT(error.what(), HasSubstr("byte 14 (line 2, column 5)"));
  }
  EXPECT_EQ(ids, Ids{5});
  EXPECT_THROW(LexemeTokenizer().encode("\xff"), Error);
  EXPECT_THROW(LexemeTokenizer().encode("a\xc3\xa9"), Error);
  EXPECT_THROW(LexemeTokenizer().encode(std::string("a\0", 2)), Error);
  EXPECT_THROW(LexemeTokenizer().encode("<bos>"), Error) << "specials are never produced";
}

TEST(LexemeTokenizer, VocabularyIsSmallDistinctAndBeginsWithTheSpecials) {
  const auto& vocabulary = LexemeTokenizer::vocabulary();
  EXPECT_EQ(std::set<std::string>(vocabulary.begin(), vocabulary.end()).size(), 90u);
  EXPECT_EQ(LexemeTokenizer().vocabulary_size(), 90u);
  EXPECT_EQ(vocabulary[LexemeTokenizer::kPad], "<pad>");
  EXPECT_EQ(vocabulary[LexemeTokenizer::kBos], "<bos>");
  EXPECT_EQ(vocabulary[LexemeTokenizer::kEos], "<eos>");
  EXPECT_EQ(vocabulary[LexemeTokenizer::kUnk], "<unk>");
  EXPECT_THROW(LexemeTokenizer::id_of("lambda"), Error);
  EXPECT_THROW(LexemeTokenizer().decode(Ids{90}), Error);
}

}  // namespace
}  // namespace shellgame
