#include "shellgame/tokens/batch.h"

#include <gtest/gtest.h>

#include "shellgame/system/error.h"
#include "shellgame/system/threads.h"
#include "shellgame/tasks/task_keys.h"
#include "shellgame/tokens/lexeme_tokenizer.h"

namespace shellgame {
namespace {

struct Filled {
  std::vector<std::int64_t> inputs, targets;
  std::vector<std::uint8_t> mask;
  BatchReport report;
};

Filled fill(const Task& task, const Tokenizer& tokenizer, LossOn loss, std::size_t rows,
            std::size_t width) {
  const Sampler sampler(task);
  const TokenMaker maker(sampler, tokenizer);
  // Poison: every place must be written.
  Filled filled{std::vector<std::int64_t>(rows * width, -7),
                std::vector<std::int64_t>(rows * width, -7),
                std::vector<std::uint8_t>(rows * width, 9),
                {}};
  filled.report =
      fill_batch(maker, 3, 10, loss, LexemeTokenizer::kPad,
                 {rows, width, filled.inputs.data(), filled.targets.data(), filled.mask.data()});
  return filled;
}

TEST(Batch, RowsAreTheTokensOfTheTextsShiftedByOne) {
  Task task;
  task.branching = true;
  task.reveal_forms = {RevealForm::kPrint, RevealForm::kMember};
  const LexemeTokenizer tokenizer;
  const Sampler sampler(task);
  const TraceMaker texts(sampler);
  const std::size_t rows = 6, width = 2400;
  const Filled filled = fill(task, tokenizer, LossOn::kAllTokens, rows, width);
  std::size_t tokens = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    Trace trace;
    texts.make(3, 10 + row, trace, false);
    const auto ids = tokenizer.encode(trace.text.view());
    tokens += ids.size();
    for (std::size_t t = 0; t < width; ++t) {
      const std::size_t at = row * width + t;
      EXPECT_EQ(filled.inputs[at], t < ids.size() ? ids[t] : LexemeTokenizer::kPad);
      EXPECT_EQ(filled.targets[at], t + 1 < ids.size() ? ids[t + 1] : kIgnored);
      EXPECT_EQ(filled.mask[at], t + 1 < ids.size());
    }
  }
  EXPECT_EQ(filled.report.tokens, tokens);
}

TEST(Batch, TheDesignsTokenCountsHold) {
  // 5 first values of 5 tokens, 64 commands of 21, 8 reveals of 12.
  const LexemeTokenizer tokenizer;
  EXPECT_EQ(fill(Task(), tokenizer, LossOn::kAllTokens, 4, 1465).report.longest, 1465u);
}

TEST(Batch, LossOnRevealsIsAtTheRevealedValues) {
  const LexemeTokenizer tokenizer;
  const std::size_t rows = 5, width = 1465;
  const Filled filled = fill(Task(), tokenizer, LossOn::kReveals, rows, width);
  ASSERT_EQ(filled.report.reveals.size(), rows * 8);
  std::size_t masked = 0;
  for (std::uint8_t m : filled.mask) masked += m;
  EXPECT_EQ(masked, rows * 8);
  for (const RevealPlace& reveal : filled.report.reveals) {
    const std::size_t at = reveal.row * width + reveal.place;
    EXPECT_EQ(filled.mask[at], 1);
    EXPECT_EQ(filled.targets[at], LexemeTokenizer::id_of(std::to_string(reveal.value + 1)));
    EXPECT_EQ(filled.inputs[at], LexemeTokenizer::id_of(" "));
    EXPECT_EQ(filled.inputs[at - 1], LexemeTokenizer::id_of(scheme_variable(reveal.variable)));
    EXPECT_EQ(reveal.command % 8, 0u);
  }
}

TEST(Batch, ValuesOfSeveralTokensAreMarkedWhole) {
  Task task;
  task.group = "S30";
  task.moves = Moves::kSwaps;
  const LexemeTokenizer tokenizer;
  const Filled filled = fill(task, tokenizer, LossOn::kReveals, 20, 2000);
  std::string shown;
  for (const RevealPlace& reveal : filled.report.reveals) {
    const auto id = static_cast<std::uint32_t>(filled.targets[reveal.row * 2000 + reveal.place]);
    shown += tokenizer.decode(&id, 1);
    if (shown != std::to_string(reveal.value + 1)) continue;
    shown.clear();
  }
  EXPECT_EQ(shown, "");  // every value was spelled out
}

TEST(Batch, DoesNotDependOnThreadsOrOnTheWayTokensAreMade) {
  const LexemeTokenizer tokenizer;
  set_thread_count(1);
  const Filled one = fill(Task(), tokenizer, LossOn::kReveals, 9, 1500);
  set_thread_count(4);
  const Filled four = fill(Task(), tokenizer, LossOn::kReveals, 9, 1500);
  set_thread_count(default_thread_count());
  EXPECT_EQ(one.inputs, four.inputs);
  EXPECT_EQ(one.targets, four.targets);
  EXPECT_EQ(one.report.reveals, four.report.reveals);
}

TEST(Batch, BlindQuestionsAreNotRevealedValues) {
  Task task;
  task.reveal_forms = {RevealForm::kMember};
  const LexemeTokenizer tokenizer;
  EXPECT_TRUE(fill(task, tokenizer, LossOn::kReveals, 2, 1600).report.reveals.empty());
  task.reveal_forms = {RevealForm::kEqual};
  EXPECT_EQ(fill(task, tokenizer, LossOn::kReveals, 2, 1600).report.reveals.size(), 16u);
}

TEST(Batch, ATraceThatDoesNotFitIsRefused) {
  const LexemeTokenizer tokenizer;
  EXPECT_THROW(fill(Task(), tokenizer, LossOn::kAllTokens, 2, 1464), UsageError);
}

}  // namespace
}  // namespace shellgame
