#include "shellgame/tokens/bpe_tokenizer.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "shellgame/text/error.h"
#include "shellgame/text/utf8.h"
#include "tests/tokens/golden_files.h"

namespace shellgame {
namespace {

using Ids = std::vector<std::uint32_t>;
using Json = nlohmann::json;

const BpeTokenizer& qwen3() {
  static const BpeTokenizer tokenizer(qwen3_json(), "qwen3");
  return tokenizer;
}

const std::vector<Json>& qwen3_lines() {
  static const auto lines = json_lines(unpack(data_path("qwen3-tokenizer/golden.jsonl.xz")));
  return lines;
}

std::vector<Json> golden(const std::string& folder) {
  return json_lines(read_file(data_path(folder + "/golden.jsonl")));
}

// Where the character begins that the byte at `offset` belongs to: the library's offsets never
// stand inside of a character, ours say the byte.
std::size_t character_at(const std::string& text, std::size_t offset) {
  return offset >= text.size() ? offset : code_point_before(text, offset + 1);
}

void expect_same_as_library(const Tokenizer& tokenizer, const Json& line, bool with_starts) {
  const auto text = line["text"].get<std::string>();
  const auto ids = line["ids"].get<Ids>();
  ASSERT_EQ(tokenizer.encode(text), ids) << line["text"];
  EXPECT_EQ(tokenizer.decode(ids), line["decoded"].get<std::string>());
  Ids again, offsets;
  tokenizer.encode_with_offsets(text, again, offsets);
  ASSERT_EQ(again, ids);
  ASSERT_EQ(offsets.size(), ids.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    ASSERT_LE(offsets[i], text.size());
    if (with_starts) {
      EXPECT_EQ(character_at(text, offsets[i]), line["starts"][i].get<std::size_t>())
          << line["text"] << " token " << i;
    }
  }
}

TEST(BpeTokenizer, GivesTheLibrarysIdsOnAllQwen3Lines) {
  ASSERT_EQ(qwen3_lines().size(), 1525u);
  for (const Json& line : qwen3_lines()) expect_same_as_library(qwen3(), line, false);
}

TEST(BpeTokenizer, GivesTheLibrarysIdsForATokenizerLikeGpt2) {
  const BpeTokenizer tokenizer(read_file(data_path("tokenizers-gpt2/tokenizer.json")), "gpt2");
  for (const Json& line : golden("tokenizers-gpt2")) expect_same_as_library(tokenizer, line, true);
}

TEST(BpeTokenizer, GivesTheLibrarysIdsForATokenizerLikeLlama3) {
  const BpeTokenizer tokenizer(read_file(data_path("tokenizers-llama3/tokenizer.json")), "llama3");
  EXPECT_EQ(tokenizer.encode("").size(), 1u) << "a <bos> stands even before an empty text";
  for (const Json& line : golden("tokenizers-llama3"))
    expect_same_as_library(tokenizer, line, true);
}

TEST(BpeTokenizer, GivesTheLibrarysIdsForEveryWayToCut) {
  const Json base = Json::parse(read_file(data_path("tokenizers-variants/tokenizer.json")));
  const auto variants = golden("tokenizers-variants");
  EXPECT_GT(variants.size(), 70u);
  for (const Json& variant : variants) {
    const Json& changes = variant["changes"];
    SCOPED_TRACE(changes.dump().substr(0, 300));
    Json file = base;
    file.update(changes);
    // Offsets are compared where the library's mean the same: nothing normalised, nothing dropped
    // and nothing added by a template.
    const bool with_starts = !changes.contains("normalizer") && !changes.contains("model") &&
                             !changes.contains("post_processor");
    const BpeTokenizer tokenizer(file.dump(), "variant");
    for (const Json& line : variant["cases"]) expect_same_as_library(tokenizer, line, with_starts);
  }
}

TEST(BpeTokenizer, TokensStandForTheTextBetweenTheirOffsets) {
  const std::string text =
      ">>> a, b = b, a\n>>> print('\u00e9', \u65e5\u672c\u8a9e)\n<|im_start|>x";
  Ids ids, offsets;
  qwen3().encode_with_offsets(text, ids, offsets);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t end = i + 1 < ids.size() ? offsets[i + 1] : text.size();
    EXPECT_EQ(qwen3().decode(&ids[i], 1),
              replace_invalid_utf8(text.substr(offsets[i], end - offsets[i])));
  }
}

TEST(BpeTokenizer, OffsetsOfNormalisedTextPointIntoTheOriginal) {
  const std::string text = "1e\u0301 y";  // the e with its mark becomes one character
  Ids ids, offsets;
  qwen3().encode_with_offsets(text, ids, offsets);
  EXPECT_EQ(qwen3().decode(ids), "1\u00e9 y");
  EXPECT_EQ(offsets, (Ids{0, 1, 4}));
}

TEST(BpeTokenizer, ATemplateStandsAtTheBordersOfTheText) {
  const Json base = Json::parse(read_file(data_path("tokenizers-variants/tokenizer.json")));
  for (const Json& variant : golden("tokenizers-variants")) {
    if (!variant["changes"].contains("post_processor")) continue;
    Json file = base;
    file.update(variant["changes"]);
    Ids ids, offsets;
    BpeTokenizer(file.dump(), "template").encode_with_offsets("a", ids, offsets);
    ASSERT_EQ(ids.size(), 4u);
    EXPECT_EQ(offsets, (Ids{0, 0, 0, 1}));
  }
}

TEST(BpeTokenizer, RefusesTextThatIsNotUtf8AndLeavesTheIds) {
  Ids ids = {7}, offsets = {9};
  EXPECT_THROW(qwen3().encode("ab\xff", ids), Error);
  EXPECT_THROW(qwen3().encode_with_offsets("ab\xff", ids, offsets), Error);
  EXPECT_EQ(ids, Ids{7});
  EXPECT_EQ(offsets, Ids{9});
}

TEST(BpeTokenizer, RefusesToDecodeIdsItDoesNotHave) {
  EXPECT_EQ(qwen3().vocabulary_size(), 151669u);
  EXPECT_THROW(qwen3().decode(Ids{151669}), Error);
  EXPECT_EQ(qwen3().decode(Ids{151643}), "<|endoftext|>");
  EXPECT_EQ(qwen3().token_id("<|endoftext|>"), 151643u);
  EXPECT_EQ(qwen3().token_id("no such token"), std::nullopt);
}

TEST(BpeTokenizer, HalfOfACharacterDecodesToAReplacement) {
  const Ids ids = qwen3().encode("\U0001FAE0");  // a character of several tokens
  ASSERT_GT(ids.size(), 1u);
  EXPECT_EQ(qwen3().decode(Ids{ids[0]}), "\uFFFD");
  EXPECT_EQ(qwen3().decode(ids), "\U0001FAE0");
}

TEST(BpeTokenizer, SeveralThreadsGiveTheSameIds) {
  const BpeTokenizer gpt2(read_file(data_path("tokenizers-gpt2/tokenizer.json")), "gpt2");
  const std::vector<Json>& lines = qwen3_lines();
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  qwen3();
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 300; ++i) {
        const Json& line = lines[(i * 5 + t * 131) % lines.size()];
        const auto text = line["text"].get<std::string>();
        gpt2.encode(text);  // shares the thread's table of pieces
        if (qwen3().encode(text) != line["ids"].get<Ids>()) ++wrong[t];
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(BpeTokenizer, AMegabyteWithoutABorderIsEncodedAndDecoded) {
  std::mt19937 random(1);
  std::string letters, marks = "a";
  for (int i = 0; i < 1 << 20; ++i) letters += static_cast<char>('a' + random() % 26);
  for (int i = 0; i < 1 << 18; ++i) marks += random() % 2 == 0 ? "\u0301" : "\u0323";
  for (const std::string& text : {letters, std::string(1 << 20, ' '), std::string(1 << 20, 'a')})
    EXPECT_TRUE(qwen3().decode(qwen3().encode(text)) == text);
  // NFC takes the first mark that joins the a, and nothing is lost of the others.
  EXPECT_EQ(qwen3().decode(qwen3().encode(marks)).size(), marks.size());
}

}  // namespace
}  // namespace shellgame
