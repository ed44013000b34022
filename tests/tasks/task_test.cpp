#include "shellgame/tasks/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/tasks/moves.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/tasks/task_keys.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of(const char* toml) {
  try {
    parse_task(toml, "t.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// S_n may have more variables than a permutation has points: the others stay where they are.
TEST(Task, AMixtureMovesTheVariablesThatItNamesAndNoOthers) {
  for (const std::size_t n : {3u, 16u, 17u, 40u, 88u}) {
    const Mixture mixture = parse_mixture("0.5 (1 2), 0.5 (1 3)", n, Condition::kRandom);
    ASSERT_EQ(mixture.outcomes.size(), 2u);
    EXPECT_EQ(mixture.outcomes[0].targets, (std::vector<VariableId>{0, 1})) << n;
    EXPECT_EQ(mixture.outcomes[1].targets, (std::vector<VariableId>{0, 2})) << n;
  }
}

TEST(Task, FileHasEveryKeyAndReadsBackTheSame) {
  Task task;
  task.group = "A4xZ5";
  task.moves = Moves::kGenerators;
  task.commands = 123;
  task.reveals = Reveals::kFixed;
  task.reveal_variable = "c";
  task.reveal_forms = {RevealForm::kMember, RevealForm::kPrint};
  task.branching = task.unknown_start = true;
  task.probabilities = {0.1, 0.25};
  task.stages = {{8, 1, 100}, {16, 2, 0}};
  task.mixtures = {"0.5 (1 2), 0.5 (1 3)", "0.9 (), 0.1 (1 2 3)"};
  const std::string text = write_task(task);
  for (const TaskKey& key : task_keys()) EXPECT_THAT(text, HasSubstr(key.name + " = "));
  EXPECT_EQ(parse_task(text, "t.toml"), task);
  EXPECT_EQ(parse_task(write_task(Task()), "t.toml"), Task());
}

TEST(Task, FileMayUseListsAndTables) {
  const Task task = parse_task(
      "group = \"S3\"\nreveal_forms = [\"print\", \"equal\"]\nvalues = [\"x\", \"y\", \"z\"]\n"
      "stages = [{commands = 8, spacing = 1, traces = 10}, {commands = 16, spacing = 2}]\n"
      "uncertainty = \"branching\"\nmixtures = [\"0.5 (1 2), 0.5 ()\", \"0.25 (1 2), 0.75 (1 "
      "3)\"]\n",
      "t.toml");
  EXPECT_EQ(task.reveal_forms.size(), 2u);
  EXPECT_EQ(task.values, (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_EQ(task.stages, (std::vector<Stage>{{8, 1, 10}, {16, 2, 0}}));
  EXPECT_EQ(task.mixtures.size(), 2u);
}

TEST(Task, WrongFilesGetFileLineAndKey) {
  EXPECT_THAT(error_of("commands = 8\nspacing = 0\n"),
              StartsWith("t.toml:2:1: key 'spacing': spacing must be"));
  EXPECT_THAT(
      error_of("\n\nspcing = 4\n"),
      StartsWith("t.toml:3:1: key 'spcing': a task has no such key; did you mean 'spacing'"));
  EXPECT_THAT(error_of("group = \"Q8\"\n"), StartsWith("t.toml:1:1: key 'group': "));
  EXPECT_THAT(error_of("group = 5\n"), StartsWith("t.toml:1:1: key 'group': "));
  EXPECT_THAT(error_of("probability = 1.5\n"), HasSubstr("a number from 0 to 1, not '1.5'"));
  EXPECT_THAT(error_of("moves = \"jumps\"\n"),
              HasSubstr("one of permutations|swaps|generators, not 'jumps'"));
  EXPECT_THAT(error_of("commands = 8\ncommands = 9\n"), StartsWith("t.toml:2:"));
  EXPECT_THAT(error_of("commands = [[1]]\n"), StartsWith("t.toml:1:"));
  EXPECT_THAT(error_of("stages = [{commands = 8}]\n"), HasSubstr("key 'stages'"));
  EXPECT_THAT(error_of("stages = [{comands = 8}]\n"), HasSubstr("not 'comands'"));
  EXPECT_THAT(error_of("commands = \n"), StartsWith("t.toml:1:"));
  EXPECT_THAT(error_of("reveal-count = 6\n"), HasSubstr("at most the number of variables, 5"));
  EXPECT_THAT(error_of("\nvalues = \"x,y\"\n"),
              StartsWith("t.toml:2:1: key 'values': values must name 5 strings"));
  EXPECT_THAT(error_of("full-reveal-period = 1\nfull_reveal_period = 2\n"),
              HasSubstr("a key must be given once"));
  EXPECT_THAT(error_of("uncertainty = \"skipped\"\ncondition = \"environment\"\n"),
              HasSubstr("random or external"));
  EXPECT_THAT(error_of("uncertainty = \"branching\"\nmixtures = \"0.5 (1 2)\"\n"),
              HasSubstr("sum to 1"));
}

TEST(Task, StagesFollowTheIndex) {
  Task task;
  task.stages = {{8, 1, 2}, {16, 2, 3}, {32, 4, 0}};
  EXPECT_EQ(stage_of(task, 0).commands, 8u);
  EXPECT_EQ(stage_of(task, 1).commands, 8u);
  EXPECT_EQ(stage_of(task, 2).commands, 16u);
  EXPECT_EQ(stage_of(task, 4).commands, 16u);
  EXPECT_EQ(stage_of(task, 5).commands, 32u);
  EXPECT_EQ(stage_of(task, 500).spacing, 4u);
}

}  // namespace
}  // namespace shellgame
