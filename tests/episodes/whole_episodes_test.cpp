#include "shellgame/episodes/whole_episodes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "shellgame/episodes/sequence_source.h"
#include "shellgame/episodes/trace_source.h"
#include "shellgame/sequences/numbered_group.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/text/error.h"
#include "shellgame/tokens/tokenizer.h"

namespace shellgame {
namespace {

WholeEpisodes traces_of(const std::string& toml, const Tokenizer& tokenizer) {
  return {std::make_unique<TraceSource>(parse_task(toml, "task.toml"), tokenizer,
                                        SourceOptions{.seed = 7, .steps = true}),
          3};
}

std::string text_of(const WholeEpisode& trace, const Tokenizer& tokenizer, std::size_t from,
                    std::size_t to) {
  const std::vector<std::uint32_t> ids(trace.ids.begin() + static_cast<std::ptrdiff_t>(from),
                                       trace.ids.begin() + static_cast<std::ptrdiff_t>(to));
  return tokenizer.decode(ids);
}

TEST(WholeEpisodes, ACommandReachesFromItsPromptToTheNext) {
  for (const char* name : {"lexeme", "bytes"}) {
    const auto tokenizer = open_tokenizer(name);
    const WholeEpisodes traces = traces_of("group = 'S3'\ncommands = 6\nspacing = 2\n", *tokenizer);
    ASSERT_EQ(traces.all().size(), 3u);
    for (const WholeEpisode& trace : traces.all()) {
      ASSERT_EQ(trace.steps.size(), 6u);
      EXPECT_EQ(trace.kinds.size(), trace.ids.size());
      EXPECT_EQ(trace.questions.size(), 3u);
      for (const Step& command : trace.steps) {
        const std::string text = text_of(trace, *tokenizer, command.from, command.to);
        EXPECT_TRUE(text.starts_with("a, b, c = ")) << text;
        EXPECT_TRUE(text.ends_with("\n>>> ") || &command == &trace.steps.back()) << text;
      }
    }
  }
}

TEST(WholeEpisodes, StatesFollowFromTheCommandsAndFitTheReveals) {
  const auto tokenizer = open_tokenizer("lexeme");
  const WholeEpisodes traces = traces_of("group = 'S4'\ncommands = 9\nspacing = 3\n", *tokenizer);
  for (const WholeEpisode& trace : traces.all()) {
    for (std::size_t c = 1; c < trace.steps.size(); ++c) {
      const Step &before = trace.steps[c - 1], &after = trace.steps[c];
      for (std::size_t v = 0; v < 4; ++v) {
        EXPECT_EQ(after.state[v], before.state[after.sources[v]]);
        EXPECT_EQ(after.belief[v * 4 + after.state[v]], 1);
      }
    }
    for (const Question& reveal : trace.questions) {
      EXPECT_EQ(trace.steps[reveal.command - 1].state[reveal.variable], reveal.value);
    }
  }
}

TEST(WholeEpisodes, EveryElementOfAWordIsACommand) {
  for (const Multiplication side : {Multiplication::kRight, Multiplication::kLeft}) {
    const WholeEpisodes traces(
        SequenceData({.kind = "word-problem", .group = "S4", .product = side, .min = 9, .max = 9})
            .source(nullptr, {.seed = 7, .steps = true}),
        3);
    EXPECT_EQ(traces.source().variables(), 4u);
    EXPECT_TRUE(traces.source().is_certain());
    ASSERT_EQ(traces.all().size(), 3u);
    const NumberedGroup group = NumberedGroup::parse("S4");
    for (const WholeEpisode& trace : traces.all()) {
      ASSERT_EQ(trace.steps.size(), 9u);
      ASSERT_EQ(trace.questions.size(), 9u);
      for (std::size_t t = 0; t < 9; ++t) {
        const Step& command = trace.steps[t];
        EXPECT_EQ(command.from, t);
        EXPECT_EQ(command.to, t + 1);
        EXPECT_EQ(trace.questions[t].after, t);
        const Permutation product = group.element(trace.questions[t].value);
        for (std::uint16_t v = 0; v < 4; ++v) {
          const int image = side == Multiplication::kRight ? product(v) : product.inverse()(v);
          EXPECT_EQ(command.state[v], image);
          const std::uint16_t source = command.sources[v];
          EXPECT_EQ(command.state[v], t == 0 ? source : trace.steps[t - 1].state[source]);
          EXPECT_EQ(command.belief[v * 4u + command.state[v]], 1);
        }
      }
    }
  }
  EXPECT_THROW(WholeEpisodes(SequenceData({.kind = "parity"}).source(nullptr, {.steps = true}), 3),
               UsageError);
  EXPECT_THROW(WholeEpisodes(SequenceData({.kind = "parity"}).source(nullptr, {}), 3), UsageError);
}

TEST(WholeEpisodes, BeliefsOfUncertainCommandsAreDistributions) {
  const auto tokenizer = open_tokenizer("lexeme");
  const WholeEpisodes traces = traces_of(
      "group = 'S3'\nmoves = 'swaps'\nuncertainty = 'branching'\ncommands = 8\nspacing = 2\n",
      *tokenizer);
  EXPECT_FALSE(traces.source().is_certain());
  bool mixed = false;
  for (const WholeEpisode& trace : traces.all()) {
    for (const Step& command : trace.steps) {
      EXPECT_TRUE(command.sources.empty());
      for (std::size_t v = 0; v < 3; ++v) {
        double sum = 0;
        for (std::size_t x = 0; x < 3; ++x) sum += command.belief[v * 3 + x];
        EXPECT_NEAR(sum, 1, 1e-12);
        const double truth = command.belief[v * 3 + command.state[v]];
        EXPECT_GT(truth, 0);
        mixed = mixed || truth < 0.9;
      }
    }
  }
  EXPECT_TRUE(mixed);
}

}  // namespace
}  // namespace shellgame
