#include "shellgame/episodes/batcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "../train/small_experiment.h"
#include "shellgame/episodes/sequence_source.h"
#include "shellgame/episodes/trace_source.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/text/error.h"
#include "shellgame/tokens/lexeme_tokenizer.h"

namespace shellgame {
namespace {

const LexemeTokenizer kLexemes;

Batcher batcher_of(const Experiment& e, std::size_t stage, bool together = false) {
  return Batcher(batch_plan(e, stage, &kLexemes, together));
}

std::vector<std::int64_t> row_of(const std::vector<std::int64_t>& all, const Batch& batch,
                                 std::int64_t row) {
  const auto first = all.begin() + row * batch.time;
  return {first, first + batch.time};
}

void expect_same(const Batch& a, const Batch& b) {
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.targets, b.targets);
  EXPECT_EQ(a.answers, b.answers);
  EXPECT_EQ(a.fresh, b.fresh);
  EXPECT_EQ(a.counted, b.counted);
}

TEST(Batcher, ARowIsATraceAndItsTargetsAreTheNextTokens) {
  const Experiment e = small_experiment();
  Batcher batcher = batcher_of(e, 0);
  const Batch batch = batcher.batch(1);
  const auto& data = dynamic_cast<const TraceData&>(*e.stages[0].data[0].data);
  const Sampler sampler(data.task());
  const TokenMaker traces(sampler, kLexemes);
  TokenTrace trace;
  traces.make(e.seed, 4 + 2, trace, true);  // the third row of the second batch of four
  EXPECT_EQ(batcher.place(1, 0, 2).index, 6u);
  const auto ids = row_of(batch.ids, batch, 2), targets = row_of(batch.targets, batch, 2);
  ASSERT_EQ(ids.size() + 1, trace.ids.size());
  for (std::size_t t = 0; t < ids.size(); ++t) {
    EXPECT_EQ(ids[t], trace.ids.data()[t]);
    EXPECT_EQ(targets[t], trace.ids.data()[t + 1]);
  }
  EXPECT_EQ(batch.answers.size(), 4u * 2);  // a reveal after each of two commands
  EXPECT_EQ(batch.counted, batch.rows * batch.time);
}

TEST(Batcher, LossOnQuestionsLeavesOtherTargetsOut) {
  const Experiment e = small_experiment({"loss=reveals"});
  const Batch batch = batcher_of(e, 0).batch(0);
  EXPECT_EQ(batch.counted, static_cast<std::int64_t>(batch.answers.size()));
  for (const AnswerPlaces& answer : batch.answers) {
    const auto token =
        static_cast<std::uint32_t>(batch.targets[static_cast<std::size_t>(answer.place)]);
    EXPECT_TRUE(std::string("123").find(kLexemes.decode(&token, 1)) != std::string::npos);
  }
}

// Twelve values as bytes: "1" begins "12", so that only the token after it tells them apart.
TEST(Batcher, TheTokenThatEndsAValueIsTrainedWhereItDecides) {
  const auto bytes = open_tokenizer("bytes");
  const TraceData data(
      parse_task("group = 'S12'\nmoves = 'swaps'\ncommands = 40\nspacing = 1\n", "task.toml"));
  BatchPlan plan{.rows = 3, .steps = 9, .targets = {.others = false}};
  plan.sources.push_back(data.source(bytes.get(), {}));
  const Batch batch = Batcher(plan).batch(2);
  ASSERT_EQ(batch.answers.size(), 3u * 40);
  std::set<std::string> seen;
  for (const AnswerPlaces& answer : batch.answers) {
    std::string text;
    for (std::uint32_t t = 0; t < answer.length; ++t)
      text += static_cast<char>(batch.targets[static_cast<std::size_t>(answer.place) + t]);
    seen.insert(text);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"1\n", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11",
                                         "12"}));
  std::int64_t tokens = 0;
  for (const AnswerPlaces& answer : batch.answers) tokens += answer.length;
  EXPECT_EQ(batch.counted, tokens);
}

// Every value's target is the belief that its question carries, also in streams, token by token.
TEST(Batcher, BeliefsAreTheTargetsOfValues) {
  const auto bytes = open_tokenizer("bytes");
  for (const bool stream : {false, true}) {
    for (const bool others : {true, false}) {
      const auto data = std::make_shared<TraceData>(parse_task(
          "group = 'S3'\nmoves = 'swaps'\nvalues = 'red,re,blue'\nuncertainty = 'branching'\n"
          "commands = 12\nspacing = 2\n",
          "task.toml"));
      BatchPlan plan{.rows = 2, .steps = 9, .targets = {.others = others, .beliefs = true}};
      if (stream) {
        StreamSources streams = stream_sources({data}, bytes.get(), {}, 6);
        plan.sources = streams.sources;
        plan.segment_tokens = static_cast<std::int64_t>(streams.segment_tokens);
        plan.stream = StreamSettings{.from = 5, .to = 5};
      } else {
        plan.sources.push_back(data->source(bytes.get(), {}));
      }
      const Batch batch = Batcher(plan).batch(2);
      ASSERT_GT(batch.soft.size(), 8u);
      std::set<std::int64_t> seen;
      for (const SoftTarget& soft : batch.soft) {
        EXPECT_TRUE(seen.insert(soft.place).second);
        EXPECT_EQ(batch.targets[static_cast<std::size_t>(soft.place)], kIgnored);
        double sum = 0;
        bool truth = false;
        for (std::uint32_t e = soft.first; e < soft.first + soft.count; ++e) {
          sum += batch.soft_weights[e];
          truth = truth || batch.soft_tokens[e] == soft.truth;
          EXPECT_TRUE(std::string("bredlue\n").find(static_cast<char>(batch.soft_tokens[e])) !=
                      std::string::npos);
        }
        EXPECT_NEAR(sum, 1, 1e-6);
        EXPECT_TRUE(truth);
      }
      const auto hard = std::ranges::count_if(batch.targets, [](auto t) { return t >= 0; });
      EXPECT_EQ(batch.counted, hard + static_cast<std::int64_t>(batch.soft.size()));
      EXPECT_EQ(hard > 0, others);
    }
  }
}

// The segments of a row, one after the other, are the trace of its stream.
TEST(Batcher, SegmentsOfAStreamJoinToItsTrace) {
  const Experiment e = small_experiment({"stages.1.steps=40"});
  Batcher batcher = batcher_of(e, 1);
  std::vector<std::int64_t> joined;
  std::size_t answers = 0;
  for (int step = 0; step < 40; ++step) {
    const Batch batch = batcher.batch(step, 0);
    ASSERT_EQ(batch.fresh.size(), 3u);
    const auto ids = row_of(batch.ids, batch, 1), targets = row_of(batch.targets, batch, 1);
    EXPECT_EQ(batch.fresh[1], batcher.place(step, 0, 1).first_step == step);
    if (batch.fresh[1]) {
      joined.clear();
      answers = 0;
    }
    if (!joined.empty()) {
      EXPECT_EQ(joined.back(), ids.front());
      joined.pop_back();
    }
    joined.insert(joined.end(), ids.begin(), ids.end());
    joined.push_back(targets.back());
    for (const AnswerPlaces& answer : batch.answers) answers += answer.place / batch.time == 1;
    const std::string text =
        kLexemes.decode(std::vector<std::uint32_t>(joined.begin(), joined.end()));
    EXPECT_TRUE(text.starts_with(">>> a = 1\n>>> b = 2\n"));
    // Every shown value is an answer: a line without a prompt holds one, at its end.
    std::size_t shown = 0;
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = text.find('\n', from);
      if (!text.substr(from).starts_with(">>>") && text.substr(from, 3).size() == 3) ++shown;
      if (end == std::string::npos) break;
      from = end + 1;
    }
    EXPECT_EQ(answers, shown) << text;
  }
}

// Nothing depends on what was asked for before: any step and part, in any order, from any process.
TEST(Batcher, ABatchIsAPureFunctionOfItsStageStepAndPart) {
  const Experiment e = small_experiment({"stages.1.steps=60"});
  for (const bool together : {false, true}) {
    for (const std::size_t stage : {0u, 1u}) {
      const std::int64_t parts = stage == 1 ? 2 : 1;
      Batcher in_order = batcher_of(e, stage, together);
      std::vector<Batch> expected;
      for (std::int64_t step = 0; step < 24; ++step)
        for (std::int64_t part = 0; part < parts; ++part)
          expected.push_back(in_order.batch(step, part));
      Batcher backwards = batcher_of(e, stage, together);
      for (std::int64_t at = 24 * parts - 1; at >= 0; --at)
        expect_same(backwards.batch(at / parts, at % parts),
                    expected[static_cast<std::size_t>(at)]);
      for (const std::int64_t at : {17L, 3L, 23L})
        expect_same(batcher_of(e, stage, together).batch(at, parts - 1),
                    expected[static_cast<std::size_t>(at * parts + parts - 1)]);
    }
  }
}

TEST(Batcher, StagesAndRowsHaveEpisodesOfTheirOwn) {
  const Experiment e = small_experiment({"stages.1.steps=60"});
  std::set<std::uint64_t> streams;
  for (const std::size_t stage : {0u, 1u}) {
    const Batcher batcher = batcher_of(e, stage);
    std::set<std::uint64_t> seen;
    std::size_t begun = 0;
    for (std::int64_t step = 0; step < 8; ++step) {
      for (std::int64_t part = 0; part < batcher.plan().parts; ++part) {
        for (std::int64_t row = 0; row < batcher.plan().rows; ++row) {
          const Batcher::Place place = batcher.place(step, part, row);
          begun += place.first_step == step;
          seen.insert(place.index);
        }
      }
    }
    EXPECT_EQ(seen.size(), begun);
    for (const std::uint64_t index : seen) EXPECT_TRUE(streams.insert(index).second);
  }
}

// Segments are as long as the longest commands make them, and streams may grow shorter.
TEST(Batcher, StreamsLastForAllTheirSegments) {
  for (const std::vector<std::string>& changes :
       {std::vector<std::string>{"stages.1.commands=[2,16]", "stages.1.steps=60"},
        std::vector<std::string>{"stages.1.stream.segments.from=16",
                                 "stages.1.stream.segments.to=2"}}) {
    Batcher batcher = batcher_of(small_experiment(changes), 1);
    for (std::int64_t step = 0; step < 60; ++step) {
      for (std::int64_t part = 0; part < 2; ++part) EXPECT_GT(batcher.batch(step, part).tokens, 0);
    }
  }
}

TEST(Batcher, RowsAreAtDifferentPlacesUnlessTheyMustBeginTogether) {
  const Experiment e = small_experiment({"stages.1.steps=40"});
  for (const bool together : {false, true}) {
    Batcher batcher = batcher_of(e, 1, together);
    bool differ = false;
    for (int step = 0; step < 20; ++step) {
      const auto fresh = batcher.batch(step, 0).fresh;
      for (const bool one : fresh) differ = differ || one != fresh[0];
    }
    EXPECT_EQ(differ, !together);
  }
}

TEST(Batcher, ASequenceHasItsOwnTargets) {
  BatchPlan plan{.rows = 6, .steps = 1};
  plan.sources.push_back(SequenceData({.kind = "parity", .min = 5, .max = 9}).source(nullptr, {}));
  const Batch batch = Batcher(plan).batch(0);
  for (std::int64_t row = 0; row < 6; ++row) {
    const auto ids = row_of(batch.ids, batch, row), targets = row_of(batch.targets, batch, row);
    std::int64_t parity = 0;
    for (std::size_t t = 0; t < ids.size(); ++t) {
      if (ids[t] == 0) {  // padding
        EXPECT_LT(targets[t], 0);
        continue;
      }
      parity ^= ids[t] == 2;
      EXPECT_EQ(targets[t], 1 + parity);
    }
  }
}

TEST(Batcher, WhatCannotBeNumberedIsRefused) {
  BatchPlan plan{.rows = 1 << 20, .parts = 1 << 20, .steps = 1 << 20};
  EXPECT_THROW(Batcher{plan}, UsageError);  // no source
  plan.sources.push_back(SequenceData({.kind = "parity"}).source(nullptr, {}));
  EXPECT_THROW(Batcher{plan}, UsageError);
  plan.rows = plan.parts = 1;
  Batcher batcher(plan);
  EXPECT_THROW(batcher.batch(0, 1), UsageError);
  EXPECT_THROW(batcher.batch(-1, 0), UsageError);
}

}  // namespace
}  // namespace shellgame
