#include "shellgame/evaluate/run_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/system/error.h"

namespace shellgame {
namespace {

std::string refusal(const std::string& toml) {
  try {
    parse_run_task(toml, "experiment.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(RunTask, TheTaskTableIsATaskSpec) {
  const RunTask run = parse_run_task(
      "seed = 3\n[task]\ngroup = 'S3'\nmoves = 'swaps'\nreveal_forms = ['print', 'equal']\n"
      "stages = [{commands = 8, spacing = 1, traces = 10}, {commands = 64, spacing = 8}]\n"
      "[model]\nhidden_size = 64\n",
      "experiment.toml");
  ASSERT_TRUE(run.task);
  EXPECT_EQ(run.task->group, "S3");
  EXPECT_EQ(run.task->moves, Moves::kSwaps);
  EXPECT_EQ(run.task->reveal_forms.size(), 2u);
  EXPECT_EQ(run.task->stages.back(), (Stage{64, 8, 0}));
}

TEST(RunTask, TheSequenceTableNamesAKindAndLengths) {
  const RunTask run = parse_run_task("[sequence]\nkind = 'parity'\nmin = 3\nmax = 40\n", "e.toml");
  ASSERT_TRUE(run.sequence);
  EXPECT_EQ(*run.sequence, (SequenceSpec{.kind = "parity", .min = 3, .max = 40}));
  const RunTask words =
      parse_run_task("[sequence]\nkind = 'word-problem'\ngroup = 'A5'\nlength = 20\n", "e.toml");
  EXPECT_EQ(words.sequence->max, 20u);
  EXPECT_EQ(words.sequence->group, "A5");
}

TEST(RunTask, WrongTablesGetASentence) {
  EXPECT_THAT(refusal("[model]\n"), testing::HasSubstr("one of the tables"));
  EXPECT_THAT(refusal("[task]\n[sequence]\nkind = 'parity'\n"),
              testing::HasSubstr("one of the tables"));
  EXPECT_THAT(refusal("[task]\ngruop = 'S3'\n"), testing::HasSubstr("is 'group' meant?"));
  EXPECT_THAT(refusal("[sequence]\nkind = 'dyck'\n"), testing::HasSubstr("'dyck'"));
  EXPECT_THAT(refusal("[sequence]\nkind = 'parity'\nmin = 0\n"), testing::HasSubstr("'min'"));
  EXPECT_THAT(refusal("[sequence\n"), testing::HasSubstr("experiment.toml:1"));
}

}  // namespace
}  // namespace shellgame
