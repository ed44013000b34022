#include "shellgame/episodes/data_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "shellgame/episodes/file_source.h"
#include "shellgame/episodes/question_rows.h"
#include "shellgame/episodes/task_record.h"
#include "shellgame/system/files.h"
#include "shellgame/tokens/lexeme_tokenizer.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

using testing::HasSubstr;

const LexemeTokenizer kKindLexemes;

// What every kind must keep to, with settings that make it short and, if it can be, uncertain.
struct KindCase {
  const char* name;
  DataSettings settings;
};
class EveryKind : public testing::TestWithParam<KindCase> {
 protected:
  DataSpec spec_{GetParam().name, GetParam().settings};
  SharedData data_ = spec_.make();
  std::unique_ptr<Source> source_ =
      data_->source(data_->is_text() ? &kKindLexemes : nullptr, {.seed = 5});
};

bool same_question(const Question& a, const Question& b) {
  return a.command == b.command && a.variable == b.variable && a.value == b.value &&
         a.after == b.after && a.length == b.length && a.end_token == b.end_token &&
         a.belief == b.belief;
}

// All pieces of an episode put together.
Piece together(const Source& source, std::uint64_t index, std::size_t tokens) {
  Piece all, piece;
  const auto episode = source.episode(index);
  while (episode->next(piece, tokens)) {
    for (Question question : piece.questions) {
      EXPECT_LT(question.after + question.length + (question.length > 0 ? 1 : 0),
                piece.ids.size() + (question.length > 0 ? 0 : 1))
          << "a piece must not end before the token after a value";
      question.after += all.ids.size();
      all.questions.push_back(question);
    }
    all.ids.insert(all.ids.end(), piece.ids.begin(), piece.ids.end());
  }
  return all;
}

TEST_P(EveryKind, GivesTheSameEpisodeInAnyOrderAndInAnyPieces) {
  for (const std::uint64_t index : {3u, 0u, 3u}) {
    Piece whole;
    source_->whole(index, whole);
    ASSERT_FALSE(whole.ids.empty());
    ASSERT_FALSE(whole.questions.empty());
    for (const std::size_t tokens : {1u, 7u, 1u << 20}) {
      const Piece all = together(*source_, index, tokens);
      EXPECT_EQ(all.ids, whole.ids);
      EXPECT_TRUE(std::ranges::equal(all.questions, whole.questions, same_question));
    }
  }
}

TEST_P(EveryKind, HasValuesAndBeliefsThatFitItsTokens) {
  for (std::uint64_t index = 0; index < 20; ++index) {
    Piece piece;
    source_->whole(index, piece);
    for (const std::uint32_t id : piece.ids) EXPECT_LT(id, source_->vocabulary_size());
    for (const Question& question : piece.questions) {
      ASSERT_LT(question.value, question.values->values());
      if (question.length > 0) {
        const auto value = question.values->tokens(question.value);
        ASSERT_EQ(value.size(), question.length);
        for (std::size_t i = 0; i < value.size(); ++i)
          EXPECT_EQ(piece.ids[question.after + 1 + i], value[i]);
        EXPECT_EQ(piece.ids[question.after + 1 + question.length], question.end_token);
      }
      if (question.belief.empty()) continue;
      ASSERT_EQ(question.belief.size(), question.values->values());
      EXPECT_NEAR(std::accumulate(question.belief.begin(), question.belief.end(), 0.0), 1, 1e-12);
      EXPECT_GT(question.belief[question.value], 0) << "what happened must have been possible";
    }
  }
}

TEST_P(EveryKind, SurvivesAFileOfQuestions) {
  const ScratchFolder folder;
  std::string lines;
  for (std::uint64_t index = 0; index < 3; ++index) {
    Piece piece;
    source_->whole(index, piece);
    lines += question_line(piece, source_->has_beliefs()) + "\n";
  }
  write_file(folder / "rows.jsonl", lines);
  const DataSpec file{"file", {{"file", folder / "rows.jsonl"}}};
  const auto again = file.make()->source(nullptr, {});
  for (std::uint64_t index = 0; index < 3; ++index) {
    Piece piece, read;
    source_->whole(index, piece);
    again->whole(index, read);
    EXPECT_EQ(read.ids, piece.ids);
    ASSERT_EQ(read.questions.size(), piece.questions.size());
    for (std::size_t i = 0; i < read.questions.size(); ++i)
      EXPECT_EQ(read.questions[i].after, piece.questions[i].after);
  }
}

TEST_P(EveryKind, IsWrittenAndReadBack) {
  const DataSpec again = spec_of_json(spec_json(spec_, true));
  EXPECT_EQ(again.kind, spec_.kind);
  for (const auto& [key, value] : spec_.settings) EXPECT_EQ(again.value(key), value) << key;
  EXPECT_EQ(spec_of_json(spec_json(spec_, false)), spec_);
  EXPECT_EQ(
      task_record_text({.data = spec_, .axis = "length", .segment = 3, .longest = 9}).find("null"),
      std::string::npos);
}

TEST_P(EveryKind, StreamsAreAsLongAsTheyAreAskedFor) {
  const Tokenizer* tokenizer = data_->is_text() ? &kKindLexemes : nullptr;
  if (!data_->goes_on()) {
    EXPECT_THROW(data_->segment_tokens(tokenizer), UsageError);
    EXPECT_THROW(data_->stream(tokenizer, {}, 10), UsageError);
    return;
  }
  EXPECT_GT(data_->segment_tokens(tokenizer), 0u);
  const auto stream = data_->stream(tokenizer, {.seed = 5}, 5000);
  EXPECT_GE(together(*stream, 0, 512).ids.size(), 5000u);
}

TEST_P(EveryKind, DependsOnItsSeedOrSaysThatItDoesNot) {
  const auto other = data_->source(data_->is_text() ? &kKindLexemes : nullptr, {.seed = 6});
  std::size_t same = 0;
  for (std::uint64_t index = 0; index < 6; ++index) {
    Piece a, b;
    source_->whole(index, a);
    other->whole(index, b);
    same += a.ids == b.ids ? 1 : 0;
  }
  if (source_->depends_on_seed()) {
    EXPECT_LT(same, 6u);
  } else {
    EXPECT_EQ(same, 6u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, EveryKind,
    testing::Values(
        KindCase{
            "traces",
            {{"group", "S3"}, {"commands", "16"}, {"spacing", "2"}, {"uncertainty", "branching"}}},
        KindCase{"parity", {{"length", "3-12"}}}, KindCase{"modular-arithmetic", {{"length", "9"}}},
        KindCase{"word-problem", {{"group", "S3"}, {"length", "8"}}},
        KindCase{"counters", {{"length", "24"}, {"spacing", "3"}, {"probability", "0.3"}}},
        KindCase{"counters", {{"length", "7"}, {"spacing", "1"}, {"hidden", "1"}}},
        KindCase{"schedule",
                 {{"file", SHELLGAME_SOURCE_DIR "/experiments/uncertainty/schedules/MR.toml"},
                  {"set", "N=4,ending=c"}}},
        KindCase{
            "schedule",
            {{"file", SHELLGAME_SOURCE_DIR "/experiments/uncertainty/schedules/graded-M5.toml"},
             {"set", "N=4"}}}),
    [](const auto& one) {
      std::string name = std::string(one.param.name) + std::to_string(one.index);
      std::erase(name, '-');
      return name;
    });

TEST(DataKind, SettingsAreSplitAtTheCommasBetweenThem) {
  using List = std::vector<std::string>;
  EXPECT_EQ(split_settings("N=8,ending=c"), (List{"N=8", "ending=c"}));
  EXPECT_EQ(split_settings("N=1,4,16"), (List{"N=1,4,16"}));
  EXPECT_EQ(split_settings("N=1,4,ending=c,a"), (List{"N=1,4", "ending=c,a"}));
  EXPECT_EQ(split_settings("file=x,set=N=8,ending=c"), (List{"file=x", "set=N=8,ending=c"}));
  EXPECT_EQ(split_settings("mixtures=0.5 (1 2), 0.5 (1 3)"),
            (List{"mixtures=0.5 (1 2), 0.5 (1 3)"}));
  EXPECT_EQ(split_settings("c"), (List{"c"}));
  EXPECT_EQ(split_settings(""), List());
  EXPECT_THROW(key_and_value("c"), UsageError);
  EXPECT_THROW(key_and_value("=c"), UsageError);
}

// Every outcome of the hidden commands of a row, by brute force.
TEST(Counters, BeliefsAreThoseOfAllOutcomesThatAgreeWithWhatWasShown) {
  constexpr std::uint32_t kCounters = 2, kModulus = 3;
  constexpr double kP = 0.3;
  const auto source = DataSpec{"counters",
                               {{"counters", "2"},
                                {"modulus", "3"},
                                {"length", "12"},
                                {"spacing", "2"},
                                {"hidden", "0.6"},
                                {"probability", "0.3"}}}
                          .make()
                          ->source(nullptr, {.seed = 1});
  std::size_t uncertain = 0;
  for (std::uint64_t index = 0; index < 40; ++index) {
    Piece piece;
    source->whole(index, piece);
    std::vector<std::size_t> hidden;
    for (std::size_t t = 0; t < piece.ids.size(); ++t) {
      if (piece.ids[t] >= 1 && piece.ids[t] <= 3 * kCounters && (piece.ids[t] - 1) % 3 == 1)
        hidden.push_back(t);
    }
    for (const Question& question : piece.questions) {
      std::vector<double> weight(kModulus, 0);
      for (std::uint32_t outcome = 0; outcome < (1u << hidden.size()); ++outcome) {
        std::vector<std::uint32_t> counters(kCounters, 0);
        double probability = 1;
        std::size_t h = 0;
        bool agrees = true;
        for (std::size_t t = 0; t < question.after; ++t) {
          const std::uint32_t id = piece.ids[t];
          if (id == 0 || id > 3 * kCounters) continue;
          const std::uint32_t counter = (id - 1) / 3;
          if ((id - 1) % 3 == 0) counters[counter] = (counters[counter] + 1) % kModulus;
          if ((id - 1) % 3 == 1) {
            const bool adds = (outcome >> h++ & 1) != 0;
            probability *= adds ? kP : 1 - kP;
            if (adds) counters[counter] = (counters[counter] + 1) % kModulus;
          }
          if ((id - 1) % 3 == 2)
            agrees = agrees && piece.ids[t + 1] == 1 + 3 * kCounters + counters[counter];
        }
        // Outcomes of later commands are summed out once only.
        if (agrees && outcome >> h == 0) weight[counters[question.variable]] += probability;
      }
      const double all = std::accumulate(weight.begin(), weight.end(), 0.0);
      if (question.belief.empty()) {
        EXPECT_NEAR(weight[question.value] / all, 1, 1e-12);
        continue;
      }
      ++uncertain;
      for (std::uint32_t v = 0; v < kModulus; ++v)
        EXPECT_NEAR(question.belief[v], weight[v] / all, 1e-12);
    }
  }
  EXPECT_GT(uncertain, 60u);
}

std::string refused(const DataSpec& spec) {
  try {
    spec.make();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(DataKind, WhatIsWrongIsSaid) {
  EXPECT_THAT(refused({"party", {}}), HasSubstr("did you mean 'parity'?"));
  EXPECT_THAT(refused({"counters", {{"modulos", "3"}}}), HasSubstr("did you mean 'modulus'?"));
  EXPECT_THAT(refused({"counters", {{"modulus", "1"}}}),
              HasSubstr("modulus must be a whole number from 2 to 1024, not '1'"));
  EXPECT_THAT(refused({"file", {}}), HasSubstr("must name their file"));
  EXPECT_THAT(refused({"word-problem", {{"length", "3-9"}}}), HasSubstr("has one length"));
  EXPECT_THAT(refused({"schedule", {}}), HasSubstr("must name their file"));
  EXPECT_THAT(refused({"schedule",
                       {{"file", SHELLGAME_SOURCE_DIR "/experiments/uncertainty/schedules/MR.toml"},
                        {"set", "N=4,8,ending=c"}}}),
              HasSubstr("must leave one cell"));
  std::vector<std::string> notes;
  const DataSpec counters{"counters", {}};
  EXPECT_EQ(data_grid(counters, {{"length", {"2", "8"}}, {"spacing", {"1", "4"}}}, notes).size(),
            3u);
  EXPECT_THAT(notes, testing::ElementsAre(HasSubstr("length 2, spacing 4 are left out")));
}

TEST(DataKind, AnotherKindIsRegisteredOnce) {
  register_data_kind({.name = "registered in a test",
                      .summary = "",
                      .keys = {},
                      .axes = {},
                      .make = [](const DataSettings&) {
                        return DataSpec{"parity", {}}.make();
                      }});
  EXPECT_FALSE((DataSpec{"registered in a test", {}}.make()->is_text()));
  EXPECT_THROW(
      register_data_kind({.name = "parity", .summary = "", .keys = {}, .axes = {}, .make = {}}),
      UsageError);
}

TEST(TaskRecord, IsWhatAModelsDirectorySays) {
  const ScratchFolder folder;
  EXPECT_FALSE(read_task_record(folder.path()).has_value());
  const TaskRecord record{.data = {"traces", {{"group", "S3"}, {"probability", "0.1,0.5"}}},
                          .axis = "commands",
                          .segment = 64,
                          .longest = 2048};
  write_file(folder / "task.json", task_record_text(record));
  const TaskRecord read = read_task_record(folder.path()).value();
  EXPECT_EQ(read.data, record.data);
  EXPECT_EQ(trained_words(read),
            "trained on up to 64 commands with a gradient, streams of up to 2048 commands");
  EXPECT_EQ(longest_of("3-40"), 40u);
  write_file(folder / "task.json", R"({"task": {"kind": "traces", "grup": "S3"}})");
  EXPECT_THROW(read_task_record(folder.path()), InputError);
  write_file(folder / "task.json", R"({"task": {}, "trained": {"segment": -1}})");
  EXPECT_THROW(read_task_record(folder.path()), InputError);
}

}  // namespace
}  // namespace shellgame
