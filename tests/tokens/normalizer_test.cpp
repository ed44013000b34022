#include "shellgame/tokens/normalizer.h"

#include <gtest/gtest.h>

#include <random>

#include "shellgame/text/utf8.h"

namespace shellgame {
namespace {

using Form = Normalizer::Form;
using Origins = std::vector<std::uint32_t>;

TEST(Normalizer, KnowsTheFourFormsAndLowercase) {
  const auto apply = [](std::vector<Form> forms, const char* text) {
    return Normalizer(std::move(forms)).apply(text, false).text;
  };
  EXPECT_EQ(apply({Form::kNfc}, "e\u0301\uFB01"), "\u00e9\uFB01");
  EXPECT_EQ(apply({Form::kNfd}, "\u00e9"), "e\u0301");
  EXPECT_EQ(apply({Form::kNfkc}, "\uFB01e\u0301"), "fi\u00e9");
  EXPECT_EQ(apply({Form::kNfkd}, "\uFB01\u00e9"), "fie\u0301");
  EXPECT_EQ(apply({Form::kLowercase}, "A\u0130\u03A3"), "ai\u0307\u03C3");
  EXPECT_EQ(apply({Form::kNfkc, Form::kLowercase}, "\uFF21"), "a");
  EXPECT_EQ(apply({}, "\u00e9"), "\u00e9");
}

TEST(Normalizer, OriginsAreThePiecesOfTheOriginal) {
  const NormalizedText text = Normalizer({Form::kNfc}).apply("xe\u0301y\u00e9", true);
  EXPECT_EQ(text.text, "x\u00e9y\u00e9");
  EXPECT_EQ(text.origins, (Origins{0, 1, 1, 4, 5, 6, 7}));
  const NormalizedText twice = Normalizer({Form::kNfkd, Form::kLowercase}).apply("A\u00C9b", true);
  EXPECT_EQ(twice.text, "ae\u0301b");
  EXPECT_EQ(twice.origins, (Origins{0, 1, 1, 1, 3, 4}));
}

TEST(Normalizer, LeavesOnlyWhatIsNormalised) {
  EXPECT_TRUE(Normalizer({Form::kNfc}).leaves("plain \u00e9"));
  EXPECT_FALSE(Normalizer({Form::kNfc}).leaves("e\u0301"));
  EXPECT_FALSE(Normalizer({Form::kNfd}).leaves("\u00e9"));
  EXPECT_FALSE(Normalizer({Form::kLowercase}).leaves("A"));
  EXPECT_TRUE(Normalizer({Form::kLowercase}).leaves("a1"));
  EXPECT_TRUE(Normalizer().leaves("A\u00e9e\u0301"));
}

TEST(Normalizer, KnowsNoCharactersAfterUnicode9AsTheLibrary) {
  const Normalizer nfkd({Form::kNfkd});
  EXPECT_EQ(nfkd.apply("q\u0345\u0334", false).text, "q\u0334\u0345");
  EXPECT_EQ(nfkd.apply("q\u1DF9\u0334", false).text, "q\u1DF9\u0334") << "a mark of Unicode 10";
  EXPECT_EQ(nfkd.apply("\u32FF", false).text, "\u32FF") << "a square of Unicode 12.1";
}

// The marks of a long run are sorted before ICU sees them. 300 marks of the lowest class in front
// make a run long and change nothing else.
TEST(Normalizer, LongRunsOfMarksAreOrderedAsShortOnes) {
  const char32_t marks[] = {0x301, 0x323, 0x307, 0x31B, 0x345, 0x334, 0x308};
  std::string filler;
  for (int i = 0; i < 300; ++i) append_utf8(filler, 0x334);
  const Normalizer nfd({Form::kNfd});
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    std::string run;
    for (int i = 0; i < 32; ++i) append_utf8(run, marks[random() % 7]);
    const std::string small = nfd.apply("q" + run, false).text;
    EXPECT_EQ(nfd.apply("q" + filler + run, false).text, "q" + filler + small.substr(1));
  }
}

}  // namespace
}  // namespace shellgame
