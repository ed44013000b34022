// Traces and sequences as rows of questions.
#include "shellgame/evaluate/rows.h"

#include <gtest/gtest.h>

#include <cmath>

#include "shellgame/beliefs/predictions.h"
#include "shellgame/evaluate/sequence_rows.h"
#include "shellgame/evaluate/trace_rows.h"
#include "shellgame/random/seeds.h"
#include "shellgame/sequences/formal_language.h"
#include "shellgame/system/error.h"
#include "shellgame/tasks/task_file.h"

namespace shellgame {
namespace {

Task task_of(const std::string& toml) { return parse_task(toml, "task.toml"); }

RowPiece whole(const RowMaker& rows, std::uint64_t index) {
  const auto row = rows.row(index);
  RowPiece all, piece;
  while (row->next(piece)) {
    for (AskedReveal reveal : piece.reveals) {
      reveal.after += all.ids.size();
      all.reveals.push_back(reveal);
    }
    all.ids.insert(all.ids.end(), piece.ids.begin(), piece.ids.end());
  }
  return all;
}

struct Kind {
  const char* tokenizer;
  const char* toml;
};

const Kind kKinds[] = {
    {"lexeme", "group = 'S5'\ncommands = 200\nspacing = 3\n"},
    {"lexeme",
     "group = 'S4'\nmoves = 'swaps'\ncommands = 150\nspacing = 2\nreveal-forms = "
     "'print,equal,unequal,member'\nreveal-count = 2\nfull-reveal-period = 7\ninitial-reveal = "
     "'all'\n"},
    {"lexeme", "group = 'S20'\nmoves = 'swaps'\ncommands = 150\nspacing = 2\n"},
    {"lexeme", "group = 'S3'\nvalues = 'red,re,blue'\nreveal-forms = 'print,equal'\nspacing = 1\n"},
    {"bytes", "group = 'S12'\nmoves = 'swaps'\ncommands = 100\nspacing = 1\n"},
    {"lexeme",
     "group = 'S3'\nmoves = 'swaps'\ncommands = 90\nspacing = 2\nuncertainty = 'branching'\n"},
};

TEST(TraceRows, TheTokensAreTheTracesAndEveryShownValueIsAsked) {
  for (const Kind& kind : kKinds) {
    const auto tokenizer = open_tokenizer(kind.tokenizer);
    const Task task = task_of(kind.toml);
    const Sampler sampler(task);
    const TokenMaker maker(sampler, *tokenizer);
    for (const bool beliefs : {false, true}) {
      const TraceRows rows(task, *tokenizer, 5, beliefs);
      TokenTrace trace;
      maker.make(5, 3, trace, true);
      const RowPiece row = whole(rows, 3);
      ASSERT_EQ(row.ids,
                std::vector<std::uint32_t>(trace.ids.span().begin(), trace.ids.span().end()));
      std::erase_if(trace.reveals, [&](const RevealMark& mark) {
        return !shows_value(trace.trace.program, mark);
      });
      ASSERT_EQ(row.reveals.size(), trace.reveals.size());
      EXPECT_GT(row.reveals.size(), 20u);
      for (std::size_t i = 0; i < row.reveals.size(); ++i) {
        const AskedReveal& reveal = row.reveals[i];
        EXPECT_EQ(reveal.after + 1, trace.reveals[i].offset);
        EXPECT_EQ(reveal.command, trace.reveals[i].command);
        EXPECT_EQ(reveal.value, trace.reveals[i].value);
        // The tokens after the place are the value's, as its tree has them.
        EXPECT_EQ(
            reveal.values->tokens(reveal.value),
            std::vector<std::uint32_t>(
                row.ids.begin() + static_cast<std::ptrdiff_t>(reveal.after + 1),
                row.ids.begin() + static_cast<std::ptrdiff_t>(reveal.after + 1) + reveal.length));
        EXPECT_EQ(row.ids[reveal.after + 1 + reveal.length], reveal.end_token);
      }
    }
  }
}

TEST(TraceRows, TheTokenCountIsRightForTracesOfOneLength) {
  const auto tokenizer = open_tokenizer("lexeme");
  for (const std::uint64_t commands : {8, 64, 100, 5000}) {
    Task task = task_of("group = 'S5'\nspacing = 4\n");
    task.commands = commands;
    const TraceRows rows(task, *tokenizer, 1, true);
    EXPECT_NEAR(static_cast<double>(rows.tokens()), static_cast<double>(whole(rows, 0).ids.size()),
                64)
        << commands;
  }
}

TEST(TraceRows, BeliefsAreThoseOfTheBeliefEngine) {
  const auto tokenizer = open_tokenizer("lexeme");
  const Task task = task_of(
      "group = 'S4'\nmoves = 'swaps'\ncommands = 40\nspacing = 2\nuncertainty = 'branching'\n"
      "reveal-forms = 'print,equal,unequal,member'\nfull-reveal-period = 9\n");
  const TraceRows rows(task, *tokenizer, 9, true);
  EXPECT_TRUE(rows.has_beliefs());
  EXPECT_DOUBLE_EQ(rows.chance(), 0.25);
  const Sampler sampler(task);
  Program program;
  sampler.sample(9, 2, program);
  std::vector<RevealMark> marks;
  render(program, &marks);
  const auto beliefs = predictions(program, marks);
  const RowPiece row = whole(rows, 2);
  std::size_t next = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (!shows_value(program, marks[i])) continue;
    EXPECT_EQ(row.reveals[next++].belief, beliefs[i]);
  }
  EXPECT_EQ(next, row.reveals.size());
  const TraceRows without(task, *tokenizer, 9, false);
  EXPECT_FALSE(without.has_beliefs());
  EXPECT_TRUE(whole(without, 2).reveals.front().belief.empty());
}

TEST(TraceRows, StagesDoNotShortenTheTrace) {
  const auto tokenizer = open_tokenizer("lexeme");
  const Task task = task_of("commands = 50\nspacing = 5\nstages = '8:1:100,16:2'\n");
  EXPECT_EQ(whole(TraceRows(task, *tokenizer, 0, true), 0).reveals.back().command, 50u);
}

TEST(TraceRows, ATaskThatShowsNothingIsRefused) {
  const auto tokenizer = open_tokenizer("lexeme");
  for (const char* toml : {"reveals = 'none'\n", "reveal-forms = 'unequal,member'\n"}) {
    EXPECT_THROW(TraceRows(task_of(toml), *tokenizer, 0, true), UsageError) << toml;
  }
}

TEST(TraceRows, BeliefsOfManyVariablesAreNotCheap) {
  std::string sentence;
  EXPECT_TRUE(beliefs_are_cheap(task_of("group = 'S12'\n"), 1000, sentence));
  const char* uncertain = "moves = 'swaps'\nuncertainty = 'branching'\n";
  EXPECT_TRUE(
      beliefs_are_cheap(task_of("group = 'S5'\n" + std::string(uncertain)), 1000, sentence));
  EXPECT_EQ(sentence, "");
  EXPECT_FALSE(beliefs_are_cheap(task_of("group = 'S12'\n" + std::string(uncertain)), 1, sentence));
  EXPECT_NE(sentence.find("left out"), std::string::npos);
}

TEST(SequenceRows, EveryTargetIsAskedAtItsInput) {
  const SequenceSpec spec{.kind = "word-problem", .group = "S3", .min = 12, .max = 12};
  const SequenceRows rows(spec, 4);
  const Sequence sequence = make_sequence_task(spec)->sample(4, 6);
  const RowPiece row = whole(rows, 6);
  EXPECT_EQ(row.ids, sequence.input);
  ASSERT_EQ(row.reveals.size(), 12u);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(row.reveals[i].after, i);
    EXPECT_EQ(row.reveals[i].command, i + 1);
    EXPECT_EQ(row.reveals[i].values->tokens(row.reveals[i].value)[0], sequence.target[i]);
  }
  EXPECT_DOUBLE_EQ(rows.chance(), 1.0 / 6);
}

TEST(SequenceRows, OnlyAnswersCanBeChosen) {
  const SequenceRows parity({.kind = "parity", .min = 9, .max = 9}, 0);
  EXPECT_DOUBLE_EQ(parity.chance(), 0.5);
  EXPECT_EQ(parity.value_name(0), "0");
  EXPECT_EQ(parity.value_name(1), "1");
  const SequenceRows modular({.kind = "modular-arithmetic", .min = 9, .max = 9}, 0);
  EXPECT_DOUBLE_EQ(modular.chance(), 1.0 / kModulus);
  const RowPiece row = whole(modular, 0);
  ASSERT_EQ(row.reveals.size(), 1u);
  EXPECT_EQ(row.reveals[0].after, row.ids.size() - 1);
  EXPECT_EQ(modular.value_name(4), "4");
  EXPECT_THROW(SequenceRows({.kind = "dyck"}, 0), UsageError);
}

TEST(EvaluationSeed, IsNeverATrainingSeed) {
  EXPECT_EQ(evaluation_seed(0), std::uint64_t{1} << 63);
  EXPECT_EQ(evaluation_seed(7), (std::uint64_t{1} << 63) + 7);
  EXPECT_THROW(evaluation_seed(std::uint64_t{1} << 63), UsageError);
}

}  // namespace
}  // namespace shellgame
