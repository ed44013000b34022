#include "shellgame/train/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "shellgame/tokens/lexeme_tokenizer.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

constexpr char kSmall[] = R"(
[task]
group = "S3"
moves = "swaps"
[model]
model_type = "delta_net"
hidden_size = 32
[[stages]]
commands = 8
spacing = [1, 2]
batch = 4
steps = 10
)";

std::string refusal(const std::string& text, const std::vector<std::string>& changes = {}) {
  try {
    parse_experiment(text, "x.toml", changes);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Experiment, AStageHasATaskForEveryCommandsAndSpacing) {
  const Experiment e = parse_experiment(kSmall, "x.toml");
  ASSERT_EQ(e.stages.size(), 1u);
  ASSERT_EQ(e.stages[0].data.size(), 2u);
  EXPECT_EQ(e.stages[0].data[1].spec.value("group"), "S3");
  EXPECT_EQ(e.stages[0].data[1].spec.value("commands"), "8");
  EXPECT_EQ(e.stages[0].data[1].spec.value("spacing"), "2");
  EXPECT_EQ(e.total_steps(), 10);
}

TEST(Experiment, WhatItWritesReadsBackToTheSame) {
  const Experiment e = parse_experiment(std::string(kSmall) + R"(
until = 0.9
stream = { segments = { from = 2, to = 8 } }
tasks = [{ moves = "swaps" }, { moves = "permutations" }]
[optimiser]
weight-decay = 0.05
groups = [{ match = "embeddings", weight-decay = 0.0, rate = 0.5 }]
)",
                                        "x.toml", {"seed=9", "loss=reveals"});
  EXPECT_EQ(e.stages[0].data.size(), 4u);
  const Experiment again = parse_experiment(e.toml(), "again.toml");
  EXPECT_EQ(again.resolved, e.resolved);
  EXPECT_EQ(again.toml(), e.toml());
  EXPECT_EQ(again.seed, 9u);
  EXPECT_EQ(again.loss.asks, (AskedTargets{.others = false}));
  const std::string text = e.toml();
  EXPECT_EQ(parse_experiment(text, "x.toml", {"loss=beliefs"}).loss.asks,
            (AskedTargets{.beliefs = true}));
  const Experiment only = parse_experiment(text, "x.toml", {"loss=beliefs", "other-tokens=false"});
  EXPECT_EQ(only.loss.asks, (AskedTargets{.others = false, .beliefs = true}));
  EXPECT_EQ(parse_experiment(only.toml(), "again.toml").loss.asks, only.loss.asks);
  EXPECT_THROW(parse_experiment(text, "x.toml", {"loss=all", "other-tokens=false"}), InputError);
  EXPECT_EQ(again.optimiser.groups.at(0).rate, 0.5);
  EXPECT_EQ(again.stages[0].stream->to, 8);
  EXPECT_EQ(again.stages[0].data[2].spec.value("moves"), "permutations");
}

TEST(Experiment, StreamsOfAllStagesMayBeNamedOnce) {
  const Experiment e = parse_experiment(
      std::string(kSmall) + "[stream]\nsegments = { from = 2, to = 32, over = 0.7 }", "x.toml");
  ASSERT_TRUE(e.stages[0].stream);
  EXPECT_EQ(e.stages[0].stream->from, 2);
  EXPECT_EQ(e.stages[0].stream->over, 0.7);
}

TEST(Experiment, ASequenceHasStagesOfItsOwnLengths) {
  const Experiment e = parse_experiment(R"(
[task]
kind = "word-problem"
group = "S3"
[model]
model_type = "delta_net"
[[stages]]
length = 16
[[stages]]
length = 128
)",
                                        "x.toml");
  EXPECT_EQ(e.stages[1].data[0].spec.value("length"), "128");
  EXPECT_EQ(e.stages[1].data[0].spec.value("group"), "S3");
  EXPECT_EQ(trained_task(e).longest, 128u);
  EXPECT_EQ(parse_experiment(e.toml(), "y").resolved, e.resolved);
}

TEST(Experiment, AnArmIsWhatDiffersFromTheRestOfTheFile) {
  const std::string text = std::string(kSmall) + R"(
[[arms]]
name = "plain"
[[arms]]
name = "negative"
model = { allow_neg_eigval = true }
[[arms]]
name = "other"
model = { model_type = "transformer", num_heads = 2 }
optimiser = { learning-rate = 0.5 }
set = ["stages.0.batch=3"]
)";
  EXPECT_EQ(parse_experiment(text, "x.toml").arm, "plain");
  const Experiment negative = parse_experiment(text, "x.toml", {"arm=negative"});
  EXPECT_EQ(negative.model["hidden_size"], 32);
  EXPECT_EQ(negative.model["allow_neg_eigval"], true);
  const Experiment other = parse_experiment(text, "x.toml", {"arm=other", "seed=2"});
  EXPECT_FALSE(other.model.contains("hidden_size"));
  EXPECT_EQ(other.optimiser.learning_rate, 0.5);
  EXPECT_EQ(other.seed, 2u);
  EXPECT_EQ(other.stages[0].batch, 3);
  EXPECT_NE(negative.stages[0].batch, 3);
  EXPECT_EQ(parse_experiment(text, "x.toml", {"arm=other", "stages.0.batch=5"}).stages[0].batch, 5);
  EXPECT_THAT(refusal(std::string(kSmall) + "[[arms]]\nname = \"a\"\nset = [1]\n", {}),
              testing::HasSubstr("list of texts"));
  EXPECT_EQ(parse_experiment(other.toml(), "y").resolved, other.resolved);
  EXPECT_THAT(refusal(text, {"arm=none"}), testing::HasSubstr("one of plain, negative, other"));
}

TEST(Experiment, WhatIsWrongIsSaidWithItsKey) {
  const std::string text = kSmall;
  EXPECT_THAT(refusal(text, {"stages.0.bach=3"}), testing::HasSubstr("did you mean 'batch'?"));
  EXPECT_THAT(
      refusal(text, {"stages.0.batch=0"}),
      testing::HasSubstr("'stages.0.batch' must be a whole number from 1 to 1048576, not 0"));
  EXPECT_THAT(refusal(text, {"optimiser.learning-rate=fast"}),
              testing::HasSubstr("'optimiser.learning-rate' must be a number"));
  EXPECT_THAT(refusal(text, {"optimiser.learning-rate=inf"}), testing::HasSubstr("not inf"));
  EXPECT_THAT(refusal(text, {"optimiser.beta1=1"}), testing::HasSubstr("from 0 to 0.9999999"));
  EXPECT_THAT(refusal(text, {"evaluation.commands=2", "evaluation.spacing=4"}),
              testing::HasSubstr("nothing is revealed"));
  EXPECT_THAT(refusal(text, {"evaluation.lengths=4"}),
              testing::HasSubstr("no key 'evaluation.lengths'"));
  EXPECT_THAT(refusal(text, {"task.grup=S4"}), testing::HasSubstr("did you mean 'group'?"));
  EXPECT_THAT(refusal(text, {"task.group=X9"}), testing::HasSubstr("task.group"));
  EXPECT_THAT(refusal(text, {"schedule.shape=linear"}), testing::HasSubstr("one of cosine"));
  EXPECT_THAT(refusal("[model]\nmodel_type = \"delta_net\"\n"), testing::HasSubstr("[[stages]]"));
  EXPECT_THAT(refusal("[[stages]]\nbatch = 1\n"), testing::HasSubstr("model_type"));
  EXPECT_THAT(refusal(text + "\n[sequence]\nkind = \"parity\"\n"),
              testing::HasSubstr("[task] with a key 'kind'"));
}

TEST(Experiment, ASchedulesCellsAreDataToTrainOn) {
  const ScratchFolder folder;
  write_file(folder / "turn.toml",
             "variables = 3\nnamings = 'all'\nsteps = [\n{swap = 'a b', probability = 0.5},\n"
             "{repeat = 'N', steps = [{swap = 'b c', probability = 0.5}, {print = 'b'}]},\n"
             "{print = 'a'}]\n[parameters]\nN = [1, 2, 4]\n");
  const std::string text =
      "[task]\nkind = 'schedule'\nfile = '" + (folder / "turn.toml") +
      "'\nset = 'N=4'\n[model]\nmodel_type = 'delta_net'\n[[stages]]\nsteps = 3\ntasks = [{set = "
      "'N=1'}, {set = 'N=2'}]\n";
  const Experiment e = parse_experiment(text, "x.toml");
  ASSERT_EQ(e.stages[0].data.size(), 2u);
  const LexemeTokenizer tokenizer;
  const BatchPlan plan = batch_plan(e, 0, &tokenizer, false);
  EXPECT_EQ(plan.sources[0]->length(), 2u);
  EXPECT_EQ(plan.sources[1]->length(), 3u);
  EXPECT_THAT(
      refusal("[task]\nschedule = 'x'\n[model]\nmodel_type = 'delta_net'\n[[stages]]\n", {}),
      testing::HasSubstr("kind = \"schedule\""));
}

TEST(Experiment, BeliefsAsTargetsNeedDataThatKnowThem) {
  const ScratchFolder folder;
  write_file(folder / "x.jsonl",
             "{\"ids\": [1, 2, 3], \"questions\": [{\"at\": 1, \"values\": [[2], [3]], \"truth\": "
             "0}]}\n");
  const Experiment e = parse_experiment(
      "loss = 'beliefs'\n[task]\nkind = 'file'\nfile = '" + (folder / "x.jsonl") +
          "'\n[model]\nmodel_type = 'delta_net'\nvocab_size = 4\n[[stages]]\nsteps = 3\n",
      "x.toml");
  try {
    batch_plan(e, 0, nullptr, false);
    FAIL() << "not refused";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("needs data whose exact beliefs are known"));
  }
}

TEST(Experiment, WhatTheFirstWeightsHadSeenCounts) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / "model");
  write_file(folder / "model/task.json",
             task_record_text({.data = {}, .axis = "commands", .segment = 64, .longest = 2048}));
  const std::string text =
      "from = '" + (folder / "model") +
      "'\n[task]\ngroup = 'S3'\n[model]\nmodel_type = 'delta_net'\n[[stages]]\ncommands = "
      "16\nspacing = 4\nsteps = 3\n";
  const TaskRecord record = trained_task(parse_experiment(text, "x.toml"));
  EXPECT_EQ(record.segment, 16u);
  EXPECT_EQ(record.longest, 2048u);
}

TEST(Experiment, EveryShippedFileReads) {
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::string(SHELLGAME_SOURCE_DIR) + "/experiments")) {
    // Schedules and rules of verdicts are files of their own.
    if (entry.path().extension() != ".toml" || entry.path().filename() == "rule.toml" ||
        entry.path().parent_path().filename() == "schedules")
      continue;
    std::vector<std::string> arms = experiment_arms(entry.path().string());
    if (arms.empty()) arms = {""};
    for (const std::string& arm : arms) {
      const Experiment e = read_experiment(entry.path().string(), {"arm=" + arm});
      EXPECT_EQ(parse_experiment(e.toml(), "again").resolved, e.resolved) << entry.path();
    }
    ++count;
  }
  EXPECT_GT(count, 0);
}

TEST(Experiment, AStageOfMoreRowsThanCanBeNumberedIsRefused) {
  const std::string text = "[model]\nmodel_type = \"delta_net\"\n[[stages]]\nbatch = 512\nsteps = ";
  EXPECT_NO_THROW(parse_experiment(text + "500000000000\n", "x.toml"));
  EXPECT_THROW(parse_experiment(text + "1000000000000\n", "x.toml"), InputError);
}

}  // namespace
}  // namespace shellgame
