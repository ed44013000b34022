#include "shellgame/train/batches.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "shellgame/tokens/lexeme_tokenizer.h"
#include "small_experiment.h"

namespace shellgame {
namespace {

std::vector<std::int64_t> row_of(const at::Tensor& matrix, std::int64_t row) {
  const at::Tensor one = matrix[row].contiguous();
  return {one.data_ptr<std::int64_t>(), one.data_ptr<std::int64_t>() + one.numel()};
}

void expect_same(const TrainingBatch& a, const TrainingBatch& b) {
  EXPECT_TRUE(at::equal(a.ids, b.ids));
  EXPECT_TRUE(at::equal(a.targets, b.targets));
  EXPECT_EQ(a.answers, b.answers);
  EXPECT_EQ(a.fresh, b.fresh);
}

TEST(Batches, ARowIsATraceAndItsTargetsAreTheNextTokens) {
  const Experiment e = small_experiment();
  const LexemeTokenizer lexemes;
  BatchMaker maker(e, &lexemes);
  maker.start_stage(0, false);
  maker.next(0);
  const TrainingBatch batch = maker.next(1);
  const Sampler sampler(e.stages[0].tasks[0]);
  const TokenMaker traces(sampler, lexemes);
  TokenTrace trace;
  traces.make(e.seed, 4 + 2, trace, true);  // the third row of the second batch of four
  const auto ids = row_of(batch.ids, 2), targets = row_of(batch.targets, 2);
  ASSERT_EQ(ids.size() + 1, trace.ids.size());
  for (std::size_t t = 0; t < ids.size(); ++t) {
    EXPECT_EQ(ids[t], trace.ids.data()[t]);
    EXPECT_EQ(targets[t], trace.ids.data()[t + 1]);
  }
  EXPECT_EQ(batch.answers.size(), 4u * 2);  // a reveal after each of two commands
}

TEST(Batches, LossOnRevealsLeavesOtherTargetsOut) {
  const Experiment e = small_experiment({"loss=reveals"});
  const LexemeTokenizer lexemes;
  BatchMaker maker(e, &lexemes);
  maker.start_stage(0, false);
  const TrainingBatch batch = maker.next(0);
  EXPECT_EQ((batch.targets >= 0).sum().item<std::int64_t>(),
            static_cast<std::int64_t>(batch.answers.size()));
  for (const std::int64_t place : batch.answers) {
    const auto token =
        static_cast<std::uint32_t>(batch.targets.flatten()[place].item<std::int64_t>());
    EXPECT_TRUE(std::string("123").find(lexemes.decode(&token, 1)) != std::string::npos);
  }
}

// The segments of a row, one after the other, are the trace of its stream.
TEST(Batches, SegmentsOfAStreamJoinToItsTrace) {
  const Experiment e = small_experiment();
  const LexemeTokenizer lexemes;
  BatchMaker maker(e, &lexemes);
  maker.start_stage(1, false);
  std::vector<std::int64_t> joined;
  std::size_t answers = 0;
  for (int step = 0; step < 30; ++step) {
    const TrainingBatch batch = maker.next(step, 0);
    maker.next(step, 1);
    ASSERT_EQ(batch.fresh.size(), 3u);
    const std::int64_t T = batch.ids.size(1);
    if (batch.fresh[1]) {
      joined.clear();
      answers = 0;
    }
    const auto ids = row_of(batch.ids, 1), targets = row_of(batch.targets, 1);
    if (!joined.empty()) {
      EXPECT_EQ(joined.back(), ids.front());
      joined.pop_back();
    }
    joined.insert(joined.end(), ids.begin(), ids.end());
    joined.push_back(targets.back());
    for (const std::int64_t place : batch.answers) answers += place / T == 1;
    std::vector<std::uint32_t> tokens(joined.begin(), joined.end());
    const std::string text = lexemes.decode(tokens);
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

// Segments are as long as the longest commands make them, and streams may grow shorter.
TEST(Batches, StreamsLastForAllTheirSegments) {
  for (const std::vector<std::string>& changes :
       {std::vector<std::string>{"stages.1.commands=[2,16]", "stages.1.steps=60"},
        std::vector<std::string>{"stages.1.stream.segments.from=16",
                                 "stages.1.stream.segments.to=2"}}) {
    const Experiment e = small_experiment(changes);
    const LexemeTokenizer lexemes;
    BatchMaker maker(e, &lexemes);
    maker.start_stage(1, false);
    for (std::int64_t step = 0; step < 60; ++step) {
      for (std::int64_t part = 0; part < 2; ++part) EXPECT_GT(maker.next(step, part).tokens, 0);
    }
  }
}

TEST(Batches, RowsAreAtDifferentPlacesUnlessTheyMustBeginTogether) {
  const Experiment e = small_experiment();
  const LexemeTokenizer lexemes;
  for (const bool together : {false, true}) {
    BatchMaker maker(e, &lexemes);
    maker.start_stage(1, together);
    bool differ = false;
    for (int step = 0; step < 20; ++step) {
      const auto fresh = maker.next(step, 0).fresh;
      for (const bool one : fresh) differ = differ || one != fresh[0];
    }
    EXPECT_EQ(differ, !together);
  }
}

TEST(Batches, ACursorLeadsBackToTheSameBatches) {
  const Experiment e = small_experiment();
  const LexemeTokenizer lexemes;
  for (const std::size_t stage : {0u, 1u}) {
    BatchMaker first(e, &lexemes);
    first.start_stage(stage, false);
    for (int step = 0; step < 7; ++step)
      for (int part = 0; part < (stage == 1 ? 2 : 1); ++part) first.next(step, part);
    BatchMaker second(e, &lexemes);
    second.start_stage(stage, false);
    second.restore(nlohmann::json::parse(first.cursor().dump()));
    for (int step = 7; step < 20; ++step)
      for (int part = 0; part < (stage == 1 ? 2 : 1); ++part)
        expect_same(first.next(step, part), second.next(step, part));
  }
}

TEST(Batches, ASequenceHasItsOwnTargets) {
  const Experiment e = parse_experiment(R"(
[sequence]
kind = "parity"
min = 5
max = 9
[model]
model_type = "delta_net"
[[stages]]
batch = 6
)",
                                        "x.toml");
  BatchMaker maker(e, nullptr);
  maker.start_stage(0, false);
  const TrainingBatch batch = maker.next(0);
  for (std::int64_t row = 0; row < 6; ++row) {
    const auto ids = row_of(batch.ids, row), targets = row_of(batch.targets, row);
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

}  // namespace
}  // namespace shellgame
