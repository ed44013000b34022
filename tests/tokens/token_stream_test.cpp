#include "shellgame/tokens/token_stream.h"

#include <gtest/gtest.h>

#include "shellgame/tokens/byte_tokenizer.h"
#include "shellgame/tokens/lexeme_tokenizer.h"

namespace shellgame {
namespace {

struct Joined {
  std::vector<std::uint32_t> ids;
  std::vector<RevealMark> reveals;
  std::size_t pieces = 0;
};

Joined join(const TokenMaker& maker, std::uint64_t index, std::uint64_t commands) {
  Joined joined;
  TokenStream stream(maker, 7, index);
  TokenTrace piece;
  while (stream.next(piece, commands)) {
    for (RevealMark mark : piece.reveals) {
      mark.offset += joined.ids.size();
      joined.reveals.push_back(mark);
    }
    joined.ids.insert(joined.ids.end(), piece.ids.data(), piece.ids.data() + piece.ids.size());
    ++joined.pieces;
  }
  return joined;
}

void expect_pieces_join(const Task& task, const Tokenizer& tokenizer) {
  const Sampler sampler(task);
  const TokenMaker maker(sampler, tokenizer);
  for (const std::uint64_t commands : {1, 3, 16, 1000}) {
    TokenTrace whole;
    maker.make(7, 5, whole, true);
    const Joined joined = join(maker, 5, commands);
    EXPECT_TRUE(std::equal(joined.ids.begin(), joined.ids.end(), whole.ids.data(),
                           whole.ids.data() + whole.ids.size()));
    ASSERT_EQ(joined.reveals.size(), whole.reveals.size());
    for (std::size_t i = 0; i < whole.reveals.size(); ++i) {
      EXPECT_EQ(joined.reveals[i].offset, whole.reveals[i].offset);
      EXPECT_EQ(joined.reveals[i].command, whole.reveals[i].command);
      EXPECT_EQ(joined.reveals[i].value, whole.reveals[i].value);
    }
  }
}

TEST(TokenStream, ThePiecesOfATraceJoinToTheWhole) {
  Task task;
  task.commands = 50;
  task.spacing = 4;
  expect_pieces_join(task, LexemeTokenizer());
}

TEST(TokenStream, PiecesJoinWhereEveryPieceHasCommandsOfItsOwn) {
  Task task;
  task.group = "S20";
  task.values.clear();
  task.commands = 20;
  task.spacing = 3;
  expect_pieces_join(task, LexemeTokenizer());
}

TEST(TokenStream, ATokenizerWithoutIndependentLinesGivesTheWholeAtOnce) {
  struct Whole final : Tokenizer {
    ByteTokenizer bytes;
    void encode(std::string_view text, std::vector<std::uint32_t>& ids) const override {
      bytes.encode(text, ids);
    }
    void encode_with_offsets(std::string_view text, std::vector<std::uint32_t>& ids,
                             std::vector<std::uint32_t>& offsets) const override {
      bytes.encode_with_offsets(text, ids, offsets);
    }
    std::string decode(const std::uint32_t* ids, std::size_t count) const override {
      return bytes.decode(ids, count);
    }
    std::optional<std::uint32_t> token_id(std::string_view token) const override {
      return bytes.token_id(token);
    }
    std::uint32_t vocabulary_size() const override { return bytes.vocabulary_size(); }
    std::string name() const override { return "whole"; }
  } tokenizer;
  Task task;
  task.commands = 12;
  task.spacing = 4;
  expect_pieces_join(task, tokenizer);
  const Sampler sampler(task);
  EXPECT_EQ(join(TokenMaker(sampler, tokenizer), 5, 1).pieces, 1u);
}

}  // namespace
}  // namespace shellgame
