#include "shellgame/episodes/file_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "shellgame/episodes/question_rows.h"
#include "shellgame/episodes/sequence_source.h"
#include "shellgame/episodes/trace_source.h"
#include "shellgame/system/memory.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/text/error.h"
#include "shellgame/traces/trace.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

using testing::HasSubstr;

// A belief of 1 is a certainty, however it is said.
std::vector<double> belief_of(const Question& question) {
  if (!question.belief.empty()) return question.belief;
  std::vector<double> certain(question.values->values());
  certain[question.value] = 1;
  return certain;
}

void expect_same(const Piece& a, const Piece& b) {
  EXPECT_EQ(a.ids, b.ids);
  ASSERT_EQ(a.questions.size(), b.questions.size());
  for (std::size_t i = 0; i < a.questions.size(); ++i) {
    const Question &x = a.questions[i], &y = b.questions[i];
    EXPECT_EQ(x.after, y.after);
    EXPECT_EQ(x.value, y.value);
    EXPECT_EQ(x.length, y.length);
    EXPECT_EQ(x.command, y.command);
    EXPECT_EQ(belief_of(x), belief_of(y));
    ASSERT_EQ(x.values->values(), y.values->values());
    for (std::uint32_t v = 0; v < x.values->values(); ++v)
      EXPECT_EQ(x.values->tokens(v), y.values->tokens(v));
    if (x.length > 0) {
      EXPECT_EQ(x.end_token, y.end_token);
    }
  }
}

std::string written(const Source& source, std::uint64_t count) {
  std::string text;
  for (std::uint64_t i = 0; i < count; ++i) {
    Piece piece;
    source.whole(i, piece);
    text += question_line(piece, source.has_beliefs());
  }
  return text;
}

TEST(FileSource, GivesBackWhatASourceHasMade) {
  const ScratchFolder folder;
  struct Kind {
    const char *tokenizer, *toml;
  };
  for (const Kind& kind :
       {Kind{"lexeme", "group = 'S5'\ncommands = 30\nspacing = 3\n"},
        Kind{"bytes", "group = 'S12'\nmoves = 'swaps'\ncommands = 30\nspacing = 1\n"},
        Kind{"lexeme",
             "group = 'S3'\nmoves = 'swaps'\ncommands = 30\nspacing = 2\nuncertainty = "
             "'branching'\n"}}) {
    const auto tokenizer = open_tokenizer(kind.tokenizer);
    const TraceSource source(parse_task(kind.toml, "task.toml"), *tokenizer, {.seed = 4});
    write_file(folder / "rows.jsonl", written(source, 5));
    const FileSource file(folder / "rows.jsonl", nullptr);
    EXPECT_EQ(file.episodes(), 5u);
    EXPECT_EQ(file.has_beliefs(), source.has_beliefs());
    EXPECT_EQ(file.is_certain(), source.is_certain());
    EXPECT_DOUBLE_EQ(file.chance(), source.chance());
    for (std::uint64_t i = 0; i < 5; ++i) {
      Piece a, b;
      source.whole(i, a);
      file.whole(i, b);
      expect_same(a, b);
    }
    EXPECT_FALSE(FileData(folder / "rows.jsonl").is_text());
  }
  const auto parity = SequenceData({.kind = "parity", .min = 5, .max = 9}).source(nullptr, {});
  write_file(folder / "parity.jsonl", written(*parity, 3));
  const FileSource file(folder / "parity.jsonl", nullptr);
  EXPECT_DOUBLE_EQ(file.chance(), 0.5);
  Piece a, b;
  parity->whole(2, a);
  file.whole(5, b);  // modulo three lines
  expect_same(a, b);
}

// The same rows as text: the tokenizer finds the tokens of every value where it stands.
TEST(FileSource, TextIsTokenisedWithItsValues) {
  const ScratchFolder folder;
  for (const char* name : {"lexeme", "bytes"}) {
    const auto tokenizer = open_tokenizer(name);
    const Task task =
        parse_task("group = 'S12'\nmoves = 'swaps'\ncommands = 20\nspacing = 2\n", "task.toml");
    const Sampler sampler(task);
    const TraceMaker maker(sampler);
    std::string lines;
    for (std::uint64_t i = 0; i < 3; ++i) {
      Trace trace;
      maker.make(4, i, trace, true);
      nlohmann::json questions = nlohmann::json::array(), values = nlohmann::json::array();
      for (int v = 1; v <= 12; ++v) values.push_back(std::to_string(v));
      for (const RevealMark& mark : trace.reveals)
        questions.push_back({{"at", mark.offset},
                             {"values", values},
                             {"truth", std::to_string(mark.value + 1)},
                             {"step", mark.command}});
      lines +=
          nlohmann::json({{"text", trace.text.view()}, {"questions", questions}}).dump() + "\n";
    }
    write_file(folder / "text.jsonl", lines);
    EXPECT_TRUE(FileData(folder / "text.jsonl").is_text());
    const FileSource file(folder / "text.jsonl", tokenizer.get());
    EXPECT_FALSE(file.has_beliefs());
    const TraceSource source(task, *tokenizer, {.seed = 4});
    for (std::uint64_t i = 0; i < 3; ++i) {
      Piece a, b;
      source.whole(i, a);
      file.whole(i, b);
      expect_same(a, b);
    }
  }
}

// A line is read whole, but an episode gives it in pieces, none of which cuts a value off.
TEST(FileSource, ALineGoesOnInPieces) {
  const ScratchFolder folder;
  const auto bytes = open_tokenizer("bytes");
  const TraceSource source(parse_task("group = 'S12'\ncommands = 40\nspacing = 2\n", "task.toml"),
                           *bytes, {.seed = 4});
  write_file(folder / "rows.jsonl", written(source, 2));
  const FileSource file(folder / "rows.jsonl", nullptr);
  Piece whole;
  file.whole(1, whole);
  for (const std::size_t tokens : {1u, 5u, 64u, 100000u}) {
    Piece piece, all;
    std::size_t pieces = 0;
    for (const auto episode = file.episode(1); episode->next(piece, tokens); ++pieces) {
      EXPECT_GE(piece.ids.size() + all.ids.size(),
                std::min(whole.ids.size(), all.ids.size() + tokens));
      EXPECT_LE(piece.ids.size(), tokens + 4) << "of about so many tokens";
      for (Question question : piece.questions) {
        EXPECT_LE(question.after + question.length + 2, piece.ids.size());
        question.after += all.ids.size();
        all.questions.push_back(question);
      }
      all.ids.insert(all.ids.end(), piece.ids.begin(), piece.ids.end());
    }
    expect_same(all, whole);
    EXPECT_EQ(pieces == 1, tokens >= whole.ids.size());
  }
}

TEST(FileSource, ALineThatMemoryCannotHoldIsRefusedBeforeItIsRead) {
  const ScratchFolder folder;
  const std::string file = folder / "sparse.jsonl";
  write_file(file, R"({"ids":[1,2],"questions":[{"at":1,"values":[2,3],"truth":0}]})"
                   "\n");
  // A hole, which takes no disk.
  std::filesystem::resize_file(file, static_cast<std::uintmax_t>(available_memory()) / 16);
  try {
    const FileSource source(file, nullptr);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("line 2 of '" + file + "'"));
  }
}

TEST(FileSource, ABadLineIsNamed) {
  const ScratchFolder folder;
  const std::string good =
      R"({"ids":[1,2,3,4],"questions":[{"at":2,"values":[[3],[5]],"truth":0}]})";
  const auto refusal = [&](const std::string& line) -> std::string {
    write_file(folder / "x.jsonl", good + "\n\n" + line + "\n");
    try {
      FileSource(folder / "x.jsonl", nullptr);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(good), "");
  const auto expect = [&](const std::string& line, const std::string& sentence) {
    EXPECT_THAT(refusal(line), HasSubstr("x.jsonl:3")) << line;
    EXPECT_THAT(refusal(line), HasSubstr(sentence)) << line;
  };
  expect("{", "");
  expect("[]", "must be a JSON object");
  expect(R"({"questions":[]})", "must have 'ids' or 'text'");
  expect(R"({"ids":[],"questions":[]})", "must have tokens");
  expect(R"({"ids":[1,-2],"questions":[]})", "a token id must be");
  expect(R"({"ids":[1,4294967296],"questions":[]})", "a token id must be");
  expect(R"({"ids":[1]})", "a list 'questions'");
  expect(R"({"ids":[1],"tokenizer":3,"questions":[]})", "'tokenizer' must be a name, a path");
  expect(R"({"text":"a","tokenizer":"bytes","questions":[]})", "must name none");
  expect(R"({"ids":[1],"tokenizer":"bytes","questions":[]})", "must name the same 'tokenizer'");
  expect(R"({"text":"a","questions":[]})", "needs a tokenizer");
  const auto asked = [](const std::string& question) {
    return R"({"ids":[1,2,3,4],"questions":[)" + question + "]}";
  };
  expect(asked("3"), "a question must be a JSON object");
  expect(asked(R"({"at":2,"truth":0})"), "must have 'at', 'values' and 'truth'");
  expect(asked(R"({"at":2,"values":[],"truth":0})"), "'values' must be a list");
  expect(asked(R"({"at":0,"values":[1,5],"truth":0})"), "must have a token before it");
  expect(asked(R"({"at":9,"values":[3,5],"truth":0})"), "'at' must be a whole number from 0 to 4");
  expect(asked(R"({"at":2,"values":[3,5],"truth":2})"),
         "'truth' must be a whole number from 0 to 1");
  expect(asked(R"({"at":2,"values":[3,5],"truth":1})"), "the true value must stand at 'at'");
  expect(asked(R"({"at":2,"values":[3,3],"truth":0})"), "");
  expect(asked(R"({"at":3,"values":[4,[4,5]],"truth":0})"), "must have a token after it");
  expect(asked(R"({"at":2,"values":[3,5],"truth":0,"belief":[1]})"), "for each of 2 values");
  expect(asked(R"({"at":2,"values":[3,5],"truth":0,"belief":[0.5,0.6]})"), "sum to 1");
  expect(asked(R"({"at":2,"values":[3,5],"truth":0,"belief":[0,1]})"), "exclude the true value");
  expect(asked(R"({"at":2,"values":[3,5],"truth":0,"belief":[0.5,0.5]})"), "either all questions");
  expect(asked(R"({"at":2,"values":[3,5],"truth":0},{"at":2,"values":[3,5],"truth":0})"),
         "in the order of their places");
  write_file(folder / "empty.jsonl", "\n");
  EXPECT_THROW(FileSource(folder / "empty.jsonl", nullptr), InputError);
  EXPECT_THROW(FileData(folder / "empty.jsonl"), InputError);
}

}  // namespace
}  // namespace shellgame
