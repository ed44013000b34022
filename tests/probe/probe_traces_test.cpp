#include "shellgame/probe/probe_traces.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "shellgame/sequences/numbered_group.h"
#include "shellgame/system/error.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/tokens/tokenizer.h"

namespace shellgame {
namespace {

ProbeTraces traces_of(const std::string& toml, const Tokenizer& tokenizer) {
  return {parse_task(toml, "task.toml"), tokenizer, 7, 3, true};
}

std::string text_of(const ProbeTrace& trace, const Tokenizer& tokenizer, std::size_t from,
                    std::size_t to) {
  const std::vector<std::uint32_t> ids(trace.ids.begin() + static_cast<std::ptrdiff_t>(from),
                                       trace.ids.begin() + static_cast<std::ptrdiff_t>(to));
  return tokenizer.decode(ids);
}

TEST(ProbeTraces, ACommandReachesFromItsPromptToTheNext) {
  for (const char* name : {"lexeme", "bytes"}) {
    const auto tokenizer = open_tokenizer(name);
    const ProbeTraces traces = traces_of("group = 'S3'\ncommands = 6\nspacing = 2\n", *tokenizer);
    ASSERT_EQ(traces.all().size(), 3u);
    for (const ProbeTrace& trace : traces.all()) {
      ASSERT_EQ(trace.commands.size(), 6u);
      EXPECT_EQ(trace.kinds.size(), trace.ids.size());
      EXPECT_EQ(trace.reveals.size(), 3u);
      for (const ProbeCommand& command : trace.commands) {
        const std::string text = text_of(trace, *tokenizer, command.from, command.to);
        EXPECT_TRUE(text.starts_with("a, b, c = ")) << text;
        EXPECT_TRUE(text.ends_with("\n>>> ") || &command == &trace.commands.back()) << text;
      }
    }
  }
}

TEST(ProbeTraces, StatesFollowFromTheCommandsAndFitTheReveals) {
  const auto tokenizer = open_tokenizer("lexeme");
  const ProbeTraces traces = traces_of("group = 'S4'\ncommands = 9\nspacing = 3\n", *tokenizer);
  for (const ProbeTrace& trace : traces.all()) {
    for (std::size_t c = 1; c < trace.commands.size(); ++c) {
      const ProbeCommand &before = trace.commands[c - 1], &after = trace.commands[c];
      for (std::size_t v = 0; v < 4; ++v) {
        EXPECT_EQ(after.state[v], before.state[after.sources[v]]);
        EXPECT_EQ(after.belief[v * 4 + after.state[v]], 1);
      }
    }
    for (const AskedReveal& reveal : trace.reveals) {
      EXPECT_EQ(trace.commands[reveal.command - 1].state[reveal.variable], reveal.value);
    }
  }
}

TEST(ProbeTraces, EveryElementOfAWordIsACommand) {
  for (const Multiplication side : {Multiplication::kRight, Multiplication::kLeft}) {
    const ProbeTraces traces(
        {.kind = "word-problem", .group = "S4", .product = side, .min = 9, .max = 9}, 7, 3);
    EXPECT_EQ(traces.variables(), 4u);
    EXPECT_TRUE(traces.certain());
    ASSERT_EQ(traces.all().size(), 3u);
    const NumberedGroup group = NumberedGroup::parse("S4");
    for (const ProbeTrace& trace : traces.all()) {
      ASSERT_EQ(trace.commands.size(), 9u);
      ASSERT_EQ(trace.reveals.size(), 9u);
      for (std::size_t t = 0; t < 9; ++t) {
        const ProbeCommand& command = trace.commands[t];
        EXPECT_EQ(command.from, t);
        EXPECT_EQ(command.to, t + 1);
        EXPECT_EQ(trace.reveals[t].after, t);
        const Permutation product = group.element(trace.reveals[t].value);
        for (std::uint16_t v = 0; v < 4; ++v) {
          const int image = side == Multiplication::kRight ? product(v) : product.inverse()(v);
          EXPECT_EQ(command.state[v], image);
          const std::uint16_t source = command.sources[v];
          EXPECT_EQ(command.state[v], t == 0 ? source : trace.commands[t - 1].state[source]);
          EXPECT_EQ(command.belief[v * 4u + command.state[v]], 1);
        }
      }
    }
  }
  EXPECT_THROW(ProbeTraces({.kind = "parity"}, 7, 3), UsageError);
}

TEST(ProbeTraces, BeliefsOfUncertainCommandsAreDistributions) {
  const auto tokenizer = open_tokenizer("lexeme");
  const ProbeTraces traces = traces_of(
      "group = 'S3'\nmoves = 'swaps'\nuncertainty = 'branching'\ncommands = 8\nspacing = 2\n",
      *tokenizer);
  EXPECT_FALSE(traces.certain());
  bool mixed = false;
  for (const ProbeTrace& trace : traces.all()) {
    for (const ProbeCommand& command : trace.commands) {
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
