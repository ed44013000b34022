#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "shellgame/tokens/lexeme_tokenizer.h"
#include "shellgame/tokens/regex.h"
#include "tests/tokens/golden_files.h"

namespace shellgame {
namespace {

using Json = nlohmann::json;

std::vector<Json> recorded() {
  return json_lines(read_file(data_path("tokenizers-lexeme/golden.jsonl")));
}

TEST(LexemeJson, HasTheVocabularyAndTheSpecials) {
  const Json file = Json::parse(lexeme_tokenizer_json());
  const auto& vocabulary = LexemeTokenizer::vocabulary();
  EXPECT_EQ(file["model"]["type"], "WordLevel");
  EXPECT_EQ(file["model"]["unk_token"], "<unk>");
  ASSERT_EQ(file["model"]["vocab"].size(), vocabulary.size());
  for (std::size_t id = 0; id < vocabulary.size(); ++id)
    EXPECT_EQ(file["model"]["vocab"][vocabulary[id]], id);
  ASSERT_EQ(file["added_tokens"].size(), 4u);
  for (std::size_t id = 0; id < 4; ++id) {
    EXPECT_EQ(file["added_tokens"][id]["content"], vocabulary[id]);
    EXPECT_EQ(file["added_tokens"][id]["id"], id);
    EXPECT_EQ(file["added_tokens"][id]["special"], true);
  }
  EXPECT_EQ(file["decoder"]["type"], "Fuse");
}

// The recorded lines come from Hugging Face's library with this very file.
TEST(LexemeJson, HuggingFacesLibraryGivesTheSameIds) {
  EXPECT_EQ(lexeme_tokenizer_json(), read_file(data_path("tokenizers-lexeme/tokenizer.json")));
  EXPECT_GT(recorded().size(), 20u);
  for (const Json& line : recorded()) {
    const auto ids = line["ids"].get<std::vector<std::uint32_t>>();
    EXPECT_EQ(LexemeTokenizer().encode(line["text"].get<std::string>()), ids);
    EXPECT_EQ(LexemeTokenizer().decode(ids), line["decoded"].get<std::string>());
  }
}

TEST(LexemeJson, ItsPatternCutsAsTheTokenizerDoes) {
  const Json file = Json::parse(lexeme_tokenizer_json());
  const Regex regex(file["pre_tokenizer"]["pattern"]["Regex"].get<std::string>());
  for (const Json& line : recorded()) {
    const auto text = line["text"].get<std::string>();
    std::vector<std::uint32_t> ids;
    for (std::size_t position = 0; position < text.size();) {
      const auto match = regex.find(text, position);
      ASSERT_TRUE(match && match->begin == position && match->end > position);
      ids.push_back(LexemeTokenizer::id_of(text.substr(position, match->end - position)));
      position = match->end;
    }
    EXPECT_EQ(ids, LexemeTokenizer().encode(text));
  }
}

}  // namespace
}  // namespace shellgame
