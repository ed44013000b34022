// `shellgame evaluate` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "run_tool.h"
#include "shellgame/system/files.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

using testing::HasSubstr;
using testing::Not;

class EvaluateTool : public testing::Test {
 protected:
  void make_exact(const std::string& name, const std::string& options = "--group S5") {
    const Result made = run("model exact " + options + " --output " + (directory_ / name));
    ASSERT_EQ(made.code, 0) << made.output;
  }
  ScratchFolder directory_;
};

TEST_F(EvaluateTool, TheExactModelScoresOneOnAGrid) {
  make_exact("model");
  const std::string file = directory_ / "out.json";
  const Result result = run("evaluate --model " + (directory_ / "model") +
                            " --group S5 --moves permutations --commands 16,64 --spacing 8,32 "
                            "--count 3 --seed 0..1 --format json --output " +
                            file);
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("16 commands, spacing 32 are left out"));
  const auto cells = nlohmann::json::parse(read_file(file));
  ASSERT_EQ(cells.size(), 3u);
  for (const auto& cell : cells) {
    EXPECT_EQ(cell.at("accuracy"), 1.0);
    EXPECT_EQ(cell.at("final_accuracy"), 1.0);
    EXPECT_EQ(cell.at("last_eighth_accuracy"), 1.0);
    EXPECT_LT(cell.at("cross_entropy").get<double>(), 1e-4);
    EXPECT_EQ(cell.at("seeds").size(), 2u);
    EXPECT_EQ(cell.at("traces"), 6);
  }
  EXPECT_EQ(cells[2].at("commands"), 64);
  EXPECT_EQ(cells[2].at("spacing"), 32);
  EXPECT_EQ(cells[2].at("reveals"), 12);
}

TEST_F(EvaluateTool, TextAndCsvSayTheSame) {
  make_exact("model");
  const std::string what = "evaluate --model " + (directory_ / "model") +
                           " --commands 32 --spacing 8 --count 2 --mode free ";
  const Result text = run(what + "--show 1");
  ASSERT_EQ(text.code, 0) << text.output;
  EXPECT_THAT(text.output, HasSubstr("free-running"));
  EXPECT_THAT(text.output, HasSubstr("trace 0 of seed 0: 4 reveals, 0 wrong"));
  EXPECT_THAT(text.output, HasSubstr("peak memory"));
  const Result csv = run(what + "--format csv");
  EXPECT_THAT(csv.output, HasSubstr("\n32,8,free,fp32,2,1,2,8,"));
}

TEST_F(EvaluateTool, AnUncertainTaskIsComparedWithTheBayesOptimum) {
  make_exact("model", "--group S3 --moves swaps --kind marginal");
  const Result result =
      run("evaluate --model " + (directory_ / "model") +
          " --group S3 --moves swaps --uncertainty branching --commands 24 --spacing 4 --count 8 "
          "--format json");
  ASSERT_EQ(result.code, 0) << result.output;
  const auto cell = nlohmann::json::parse(result.output).at(0);
  EXPECT_GT(cell.at("bayes_cross_entropy").get<double>(), 0.2);
  EXPECT_GT(cell.at("regret").get<double>(), 0);
  EXPECT_GT(cell.at("bayes_agreement").get<double>(), 0.5);
  const Result without =
      run("evaluate --model " + (directory_ / "model") +
          " --group S3 --moves swaps --uncertainty branching --commands 24 --spacing 4 --count 8 "
          "--format json --bayes never");
  const auto bare = nlohmann::json::parse(without.output).at(0);
  EXPECT_TRUE(bare.at("bayes_cross_entropy").is_null());
  EXPECT_EQ(bare.at("accuracy"), cell.at("accuracy"));
}

// By Torch and our kernels what tests/models/exact_belief_test.cpp finds token by token.
TEST_F(EvaluateTool, TheExactModelsOfBeliefsAreRight) {
  make_exact("log", "--group S3 --moves swaps --kind log");
  const Result log = run("evaluate --model " + (directory_ / "log") +
                         " --commands 200 --spacing 2 --count 4 --format json");
  ASSERT_EQ(log.code, 0) << log.output;
  const auto start = nlohmann::json::parse(log.output).at(0);
  EXPECT_THAT(start.at("task").get<std::string>(), HasSubstr("unknown-start"));
  EXPECT_GT(start.at("bayes_cross_entropy").get<double>(), 0.01);
  EXPECT_LT(start.at("regret").get<double>(), 1e-6);
  make_exact("conserving", "--group S3 --moves swaps --kind conserving");
  const Result cell = run("evaluate --model " + (directory_ / "conserving") + " --schedule " +
                          SHELLGAME_SOURCE_DIR +
                          "/experiments/uncertainty/schedules/M5.toml --set N=64 --format json");
  ASSERT_EQ(cell.code, 0) << cell.output;
  const auto questions = nlohmann::json::parse(cell.output);
  EXPECT_EQ(questions.size(), 3u);
  for (const auto& question : questions) EXPECT_LT(question.at("miss").get<double>(), 1e-6);
}

TEST_F(EvaluateTool, ARunBringsItsTask) {
  std::filesystem::create_directories(directory_ / "run");
  make_exact("run/model", "--group S3 --moves swaps");
  write_file(directory_ / "run/experiment.toml",
             "[task]\ngroup = 'S3'\nmoves = 'swaps'\n[model]\nmodel_type = 'delta_net'\n"
             "[[stages]]\ncommands = 4\nspacing = 1\n[[stages]]\ncommands = 24\nspacing = 6\n");
  const std::string what = "evaluate --run " + (directory_ / "run") + " --count 2 --format json";
  const Result result = run(what);
  ASSERT_EQ(result.code, 0) << result.output;
  const auto cell = nlohmann::json::parse(result.output).at(0);
  EXPECT_EQ(cell.at("commands"), 24);
  EXPECT_EQ(cell.at("spacing"), 6);
  EXPECT_EQ(cell.at("accuracy"), 1.0);
  EXPECT_THAT(cell.at("task").get<std::string>(), HasSubstr("S3 swaps"));
  const Result longer = run(what + " --commands 48 --reveal-forms equal");
  const auto other = nlohmann::json::parse(longer.output).at(0);
  EXPECT_EQ(other.at("commands"), 48);
  EXPECT_THAT(other.at("task").get<std::string>(), HasSubstr("reveal-forms = equal"));
}

// What a task makes, written as a file of questions and read back, is judged alike.
TEST_F(EvaluateTool, AFileOfQuestionsIsJudgedLikeItsSource) {
  make_exact("model", "--group S3 --moves swaps --kind marginal");
  const std::string task =
      " --group S3 --moves swaps --uncertainty branching --commands 24 --spacing 4 ";
  const Result made =
      run("trace" + task + "--count 8 --seed 9223372036854775808 --format questions --output " +
          (directory_ / "questions.jsonl"));
  ASSERT_EQ(made.code, 0) << made.output;
  const std::string what = "evaluate --format json --count 8 --model " + (directory_ / "model");
  const auto by_task = nlohmann::json::parse(run(what + task).output).at(0);
  const Result result = run(what + " --data " + (directory_ / "questions.jsonl"));
  ASSERT_EQ(result.code, 0) << result.output;
  const auto by_file = nlohmann::json::parse(result.output).at(0);
  for (const char* key : {"accuracy", "regret", "outside", "cross_entropy", "bayes_cross_entropy",
                          "expected_bayes_accuracy", "traces", "reveals", "chance"})
    EXPECT_EQ(by_file.at(key), by_task.at(key)) << key;
  EXPECT_THAT(run(what + " --data " + (directory_ / "questions.jsonl") + " --commands 8").output,
              HasSubstr("'file' have no axes, not --commands"));
}

// So is what any other kind of data makes.
TEST_F(EvaluateTool, QuestionsOfAnotherKindAreJudgedLikeTheirSource) {
  const Result model =
      run("model new --set model_type=delta_net --set hidden_size=16 --set num_heads=2 --set "
          "num_hidden_layers=1 --set vocab_size=14 --output " +
          (directory_ / "model"));
  ASSERT_EQ(model.code, 0) << model.output;
  const std::string kind = " --kind counters --set length=12 --set spacing=3 ";
  const Result made =
      run("trace" + kind + "--count 100 --seed 9223372036854775808 --format questions --output " +
          (directory_ / "counters.jsonl"));
  ASSERT_EQ(made.code, 0) << made.output;
  const std::string what = "evaluate --format json --count 100 --model " + (directory_ / "model");
  const auto by_kind = nlohmann::json::parse(run(what + kind).output).at(0);
  const auto by_file =
      nlohmann::json::parse(run(what + " --data " + (directory_ / "counters.jsonl")).output).at(0);
  for (const char* key : {"accuracy", "regret", "cross_entropy", "traces", "reveals", "chance"})
    EXPECT_EQ(by_file.at(key), by_kind.at(key)) << key;
  EXPECT_THAT(run("trace" + kind).output, HasSubstr("needs --format questions, not text"));
  EXPECT_THAT(run("trace --format questions --group S3" + kind).output,
              HasSubstr("--group is for traces"));
  EXPECT_THAT(run("trace --format questions --kind counter").output,
              HasSubstr("did you mean 'counters'?"));
}

TEST_F(EvaluateTool, SequencesAreCellsByLength) {
  const Result made =
      run("model new --set model_type=delta_net --set hidden_size=16 --set num_heads=2 --set "
          "num_hidden_layers=1 --set vocab_size=3 --output " +
          (directory_ / "model"));
  ASSERT_EQ(made.code, 0) << made.output;
  const std::string what = "evaluate --model " + (directory_ / "model") + " --kind parity ";
  const Result result = run(what + "--lengths 8,16,20-40 --count 20 --format json");
  ASSERT_EQ(result.code, 0) << result.output;
  const auto cells = nlohmann::json::parse(result.output);
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[0].at("length"), 8);
  EXPECT_EQ(cells[0].at("reveals"), 20 * 7);
  EXPECT_EQ(cells[2].at("length"), "20-40");
  EXPECT_EQ(cells[0].at("chance"), 0.5);
  EXPECT_THAT(run(what + "--lengths 8").output, HasSubstr("length"));
  EXPECT_THAT(run(what + "--mode free").output, HasSubstr("rows in which the values stand"));
  EXPECT_THAT(run(what + "--commands 8").output,
              HasSubstr("'parity' have --set length=..., not --commands"));
  EXPECT_THAT(run(what + "--lengths 9-8").output,
              HasSubstr("--lengths must go from a number to a larger one"));
  EXPECT_THAT(run("evaluate --model " + (directory_ / "model")).output,
              HasSubstr("must have the vocabulary of 90 lexemes"));
}

TEST_F(EvaluateTool, WrongUseGetsASentence) {
  make_exact("model", "--group S3 --moves swaps");
  const std::string model = "evaluate --model " + (directory_ / "model") + " ";
  const std::pair<std::string, std::string> cases[] = {
      {"evaluate", "either --run DIR or --model DIR must be given"},
      {model + "--run x", "--run and --model must not be given together"},
      {"evaluate --run " + (directory_ / "none"), "has no experiment.toml"},
      {model + "--commands 8 --spacing 9",
       "spacing must be at most commands, or nothing is revealed, and it is 9 with 8"},
      {model + "--commands 8,x", "--commands must be a whole number"},
      {model + "--commands 0", "--commands must be a whole number from 1"},
      {model + "--commands 18446744073709551615", "--commands must be a whole number from 1"},
      {model + "--commands 8,8", "must have each number once"},
      {model + "--seed 0..2,1", "must have each number once"},
      {model + "--confidence 1", "must be a number from 0.01 to 0.9999999, not '1'"},
      {model + "--kind parity --group S5", "--group is for traces"},
      {model + "--seed 3..1", "--seed must go from a number to a larger one"},
      {model + "--seed 9223372036854775808", "--seed must be a whole number from 0 to 2^63 - 1"},
      {model + "--lengths 4", "'traces' have --set commands=..., --set spacing=..., not --lengths"},
      {model + "--mode loose", "must be one of teacher, free"},
      {model + "--comands 8", "did you mean '--commands'?"},
      {model + "--reveals none", "must show values"},
  };
  for (const auto& [arguments, sentence] : cases) {
    const Result result = run(arguments);
    EXPECT_NE(result.code, 0) << arguments;
    EXPECT_THAT(result.output, HasSubstr(sentence)) << arguments;
  }
}

}  // namespace
}  // namespace shellgame
