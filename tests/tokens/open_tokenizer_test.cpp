#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "shellgame/text/error.h"
#include "shellgame/tokens/lexeme_tokenizer.h"
#include "shellgame/tokens/throughput.h"
#include "shellgame/tokens/tokenizer.h"
#include "tests/system/scratch.h"
#include "tests/tokens/golden_files.h"

namespace shellgame {
namespace {

using ::testing::HasSubstr;

TEST(OpenTokenizer, KnowsNamesFilesAndDirectories) {
  EXPECT_EQ(open_tokenizer("lexeme")->name(), "lexeme");
  EXPECT_EQ(open_tokenizer("bytes")->name(), "bytes");
  const std::string directory = data_path("tokenizers-gpt2"), file = directory + "/tokenizer.json";
  EXPECT_EQ(open_tokenizer(directory)->name(), file);
  EXPECT_EQ(open_tokenizer(file)->vocabulary_size(), 601u);
}

TEST(OpenTokenizer, OpensTheExportedLexemesAsLexemes) {
  const ScratchFolder folder;
  write_file(folder / "tokenizer.json", lexeme_tokenizer_json());
  EXPECT_EQ(open_tokenizer(folder.path())->name(), "lexeme");
}

TEST(OpenTokenizer, AnUnknownNameIsAnsweredWithWhatIsAllowed) {
  for (const std::string& name :
       {std::string("words"), std::string(), data_path("qwen3-tokenizer")}) {
    try {
      open_tokenizer(name);
      FAIL() << name;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("\"lexeme\", \"bytes\", the path of a tokenizer.json"));
      EXPECT_THAT(error.what(), HasSubstr("\"" + name + "\""));
    }
  }
}

TEST(ByteTokenizer, IdsAreTheBytes) {
  const auto bytes = open_tokenizer("bytes");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  std::vector<std::uint32_t> ids, offsets;
  bytes->encode_with_offsets(all, ids, offsets);
  ASSERT_EQ(ids.size(), 256u);
  for (std::uint32_t i = 0; i < 256; ++i) EXPECT_TRUE(ids[i] == i && offsets[i] == i);
  EXPECT_EQ(bytes->encode(all), ids);
  EXPECT_EQ(bytes->decode(ids), all);
  EXPECT_EQ(bytes->vocabulary_size(), 256u);
  EXPECT_THROW(bytes->decode(std::vector<std::uint32_t>{256}), Error);
}

TEST(Throughput, IsPositiveAndNeedsAText) {
  EXPECT_GT(tokenizer_throughput(*open_tokenizer("bytes"), "abc", 0.001), 0);
  EXPECT_THROW(tokenizer_throughput(*open_tokenizer("bytes"), "", 0.001), UsageError);
}

}  // namespace
}  // namespace shellgame
