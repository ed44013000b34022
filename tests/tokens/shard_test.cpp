#include "shellgame/tokens/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "shellgame/text/error.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

void write_two(const std::string& path, std::uint32_t vocabulary) {
  ShardIndex index;
  index.tokenizer = "lexeme";
  index.vocabulary_size = vocabulary;
  index.task = "group = \"S5\"\n";
  ShardWriter writer(path, index);
  const std::vector<std::uint32_t> first{1, 2, 3}, second{40000};
  writer.add(first.data(), 2);
  writer.add(first.data() + 2, 1);
  writer.end_trace();
  writer.add(second.data(), 1);
  writer.end_trace();
  EXPECT_FALSE(std::filesystem::exists(path));
  writer.commit();
}

TEST(Shard, GivesBackWhatWasWritten) {
  for (const std::uint32_t vocabulary : {65536u, 65537u}) {
    const ScratchFolder folder;
    const std::string path = folder / "shard";
    write_two(path, vocabulary);
    const Shard shard(path);
    EXPECT_EQ(shard.index().dtype, vocabulary == 65536 ? "uint16" : "uint32");
    EXPECT_EQ(shard.index().traces(), 2u);
    EXPECT_EQ(shard.trace(0), (std::vector<std::uint32_t>{1, 2, 3}));
    EXPECT_EQ(shard.trace(1), (std::vector<std::uint32_t>{40000}));
    EXPECT_THROW(shard.trace(2), UsageError);
  }
}

TEST(Shard, AnIndexThatDoesNotFitItsIdsIsRefused) {
  const ScratchFolder folder;
  const std::string path = folder / "shard";
  write_two(path, 100);
  std::filesystem::resize_file(path, 7);
  EXPECT_THROW(Shard{path}, InputError);
  std::filesystem::resize_file(path, 6);
  EXPECT_THROW(Shard{path}, InputError);
}

TEST(Shard, WrongIndicesAreRefusedWithASentence) {
  const std::string good =
      R"({"kind":"shellgame token shard","generator":1,"dtype":"uint16","tokenizer":"x","vocabulary_size":9,"seed":0,)"
      R"("first_index":0,"task":"","offsets":[0,1,4]})";
  EXPECT_EQ(parse_shard_index(good, "i", 8).traces(), 2u);
  const auto error_of = [&](const std::string& from, const std::string& to) {
    std::string json = good;
    json.replace(json.find(from), from.size(), to);
    try {
      parse_shard_index(json, "i", 8);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(error_of("[0,1,4]", "[0,5,4]"), "i: 'offsets' must start with 0 and never fall");
  EXPECT_EQ(error_of("[0,1,4]", "[]"), "i: 'offsets' must be a list that starts with 0");
  EXPECT_EQ(error_of("[0,1,4]", "[0,1.5]"), "i: 'offsets' must hold whole numbers");
  EXPECT_EQ(error_of("uint16", "float"), "i: 'dtype' must be uint16 or uint32, not 'float'");
  EXPECT_EQ(error_of("\"generator\":1", "\"generator\":99999999999"),
            "i: 'generator' must be at most 1000000, not 99999999999");
  EXPECT_EQ(error_of("{\"kind\"", "{\"kin\""), "i: 'kind' must be a string");
}

}  // namespace
}  // namespace shellgame
