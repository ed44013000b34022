// Traces and sequences as episodes with questions.
#include "shellgame/episodes/source.h"

#include <gtest/gtest.h>

#include <cmath>

#include "shellgame/episodes/sequence_source.h"
#include "shellgame/episodes/trace_source.h"
#include "shellgame/random/seeds.h"
#include "shellgame/sequences/formal_language.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/text/error.h"
#include "shellgame/traces/predictions.h"

namespace shellgame {
namespace {

Task task_of(const std::string& toml) { return parse_task(toml, "task.toml"); }

Piece whole(const Source& rows, std::uint64_t index) {
  const auto row = rows.episode(index);
  Piece all, piece;
  while (row->next(piece, 300)) {
    for (Question reveal : piece.questions) {
      reveal.after += all.ids.size();
      all.questions.push_back(reveal);
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

TEST(TraceSource, TheTokensAreTheTracesAndEveryShownValueIsAsked) {
  for (const Kind& kind : kKinds) {
    const auto tokenizer = open_tokenizer(kind.tokenizer);
    const Task task = task_of(kind.toml);
    const Sampler sampler(task);
    const TokenMaker maker(sampler, *tokenizer);
    for (const bool beliefs : {false, true}) {
      const TraceSource rows(task, *tokenizer, {.seed = 5, .beliefs = beliefs});
      TokenTrace trace;
      maker.make(5, 3, trace, true);
      const Piece row = whole(rows, 3);
      ASSERT_EQ(row.ids,
                std::vector<std::uint32_t>(trace.ids.span().begin(), trace.ids.span().end()));
      std::erase_if(trace.reveals, [&](const RevealMark& mark) {
        return !shows_value(trace.trace.program, mark);
      });
      ASSERT_EQ(row.questions.size(), trace.reveals.size());
      EXPECT_GT(row.questions.size(), 20u);
      for (std::size_t i = 0; i < row.questions.size(); ++i) {
        const Question& reveal = row.questions[i];
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

TEST(TraceSource, TheTokenCountIsRightForTracesOfOneLength) {
  const auto tokenizer = open_tokenizer("lexeme");
  for (const std::uint64_t commands : {8, 64, 100, 5000}) {
    Task task = task_of("group = 'S5'\nspacing = 4\n");
    task.commands = commands;
    const TraceSource rows(task, *tokenizer, {.seed = 1, .beliefs = true});
    EXPECT_NEAR(static_cast<double>(rows.tokens()), static_cast<double>(whole(rows, 0).ids.size()),
                64)
        << commands;
  }
}

TEST(TraceSource, BeliefsAreThoseOfTheBeliefEngine) {
  const auto tokenizer = open_tokenizer("lexeme");
  const Task task = task_of(
      "group = 'S4'\nmoves = 'swaps'\ncommands = 40\nspacing = 2\nuncertainty = 'branching'\n"
      "reveal-forms = 'print,equal,unequal,member'\nfull-reveal-period = 9\n");
  const TraceSource rows(task, *tokenizer, {.seed = 9, .beliefs = true});
  EXPECT_TRUE(rows.has_beliefs());
  EXPECT_DOUBLE_EQ(rows.chance(), 0.25);
  const Sampler sampler(task);
  Program program;
  sampler.sample(9, 2, program);
  std::vector<RevealMark> marks;
  render(program, &marks);
  const auto beliefs = predictions(program, marks);
  const Piece row = whole(rows, 2);
  std::size_t next = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (!shows_value(program, marks[i])) continue;
    ASSERT_EQ(row.questions[next].belief.size(), beliefs[i].size());
    for (std::size_t v = 0; v < 4; ++v)
      EXPECT_NEAR(row.questions[next].belief[v], beliefs[i][v], 1e-12);
    ++next;
  }
  EXPECT_EQ(next, row.questions.size());
  const TraceSource without(task, *tokenizer, {.seed = 9, .beliefs = false});
  EXPECT_FALSE(without.has_beliefs());
  EXPECT_TRUE(whole(without, 2).questions.front().belief.empty());
}

TEST(TraceSource, StagesDoNotShortenTheTrace) {
  const auto tokenizer = open_tokenizer("lexeme");
  const Task task = task_of("commands = 50\nspacing = 5\nstages = '8:1:100,16:2'\n");
  EXPECT_EQ(whole(TraceSource(task, *tokenizer, {.seed = 0, .beliefs = true}), 0)
                .questions.back()
                .command,
            50u);
}

TEST(TraceSource, ATaskThatShowsNothingIsRefused) {
  const auto tokenizer = open_tokenizer("lexeme");
  for (const char* toml : {"reveals = 'none'\n", "reveal-forms = 'unequal,member'\n"}) {
    EXPECT_THROW(TraceSource(task_of(toml), *tokenizer, {.seed = 0, .beliefs = true}), UsageError)
        << toml;
  }
}

// More variables than a running belief has: the trace is made whole, and the beliefs are the same.
TEST(TraceSource, BeliefsOfManyVariablesComeWithAWholeTrace) {
  const auto tokenizer = open_tokenizer("lexeme");
  const Task task = task_of(
      "group = 'S9'\nmoves = 'swaps'\ncommands = 9\nspacing = 1\nuncertainty = 'branching'\n");
  const TraceSource source(task, *tokenizer, {.seed = 9});
  const auto episode = source.episode(1);
  Piece piece;
  ASSERT_TRUE(episode->next(piece, 1));
  ASSERT_EQ(piece.questions.size(), 9u);
  for (const Question& question : piece.questions) EXPECT_EQ(question.belief.size(), 9u);
  EXPECT_FALSE(episode->next(piece, 1));
}

TEST(TraceData, BeliefsOfManyVariablesAreNotCheap) {
  std::string sentence;
  const auto cheap = [&](const std::string& toml, std::uint64_t traces) {
    return TraceData(task_of(toml)).beliefs_are_cheap(traces, sentence);
  };
  EXPECT_TRUE(cheap("group = 'S12'\n", 1000));
  const std::string uncertain = "moves = 'swaps'\nuncertainty = 'branching'\n";
  EXPECT_TRUE(cheap("group = 'S5'\n" + uncertain, 1000));
  EXPECT_EQ(sentence, "");
  EXPECT_FALSE(cheap("group = 'S12'\n" + uncertain, 1));
  EXPECT_NE(sentence.find("left out"), std::string::npos);
}

TEST(SequenceSource, EveryTargetIsAskedAtItsInput) {
  const SequenceSpec spec{.kind = "word-problem", .group = "S3", .min = 12, .max = 12};
  const SequenceSource rows(spec, {.seed = 4});
  const Sequence sequence = make_sequence_task(spec)->sample(4, 6);
  const Piece row = whole(rows, 6);
  EXPECT_EQ(row.ids, sequence.input);
  ASSERT_EQ(row.questions.size(), 12u);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(row.questions[i].after, i);
    EXPECT_EQ(row.questions[i].command, i + 1);
    EXPECT_EQ(row.questions[i].values->tokens(row.questions[i].value)[0], sequence.target[i]);
  }
  EXPECT_DOUBLE_EQ(rows.chance(), 1.0 / 6);
}

TEST(SequenceSource, OnlyAnswersCanBeChosen) {
  const SequenceSource parity({.kind = "parity", .min = 9, .max = 9}, {});
  EXPECT_DOUBLE_EQ(parity.chance(), 0.5);
  EXPECT_EQ(parity.value_name(0), "0");
  EXPECT_EQ(parity.value_name(1), "1");
  const SequenceSource modular({.kind = "modular-arithmetic", .min = 9, .max = 9}, {});
  EXPECT_DOUBLE_EQ(modular.chance(), 1.0 / kModulus);
  const Piece row = whole(modular, 0);
  ASSERT_EQ(row.questions.size(), 1u);
  EXPECT_EQ(row.questions[0].after, row.ids.size() - 1);
  EXPECT_EQ(modular.value_name(4), "4");
  EXPECT_THROW(SequenceSource({.kind = "dyck"}, {}), UsageError);
}

TEST(EvaluationSeed, IsNeverATrainingSeed) {
  EXPECT_EQ(evaluation_seed(0), std::uint64_t{1} << 63);
  EXPECT_EQ(evaluation_seed(7), (std::uint64_t{1} << 63) + 7);
  EXPECT_THROW(evaluation_seed(std::uint64_t{1} << 63), UsageError);
}

}  // namespace
}  // namespace shellgame
