// Files of questions as a user writes and reads them: `trace --format questions` and
// `evaluate --filter ... --data`, without a model; and --set, which chooses among data.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "run_tool.h"
#include "shellgame/system/files.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

using testing::HasSubstr;

constexpr const char* kEvaluationSeed = " --seed 9223372036854775808 ";  // what evaluation calls 0
const std::string kM5 = SHELLGAME_SOURCE_DIR "/experiments/uncertainty/schedules/M5.toml";

class Questions : public testing::Test {
 protected:
  // What `trace` writes of this, as a file.
  std::string written(const std::string& what) {
    const std::string file = directory_ / "questions.jsonl";
    const Result made =
        run("trace " + what + kEvaluationSeed + "--format questions --output " + file);
    EXPECT_EQ(made.code, 0) << made.output;
    return file;
  }
  // Notes go elsewhere.
  nlohmann::json cell_of(const std::string& arguments) {
    const std::string file = directory_ / "answer.json";
    const Result result = run("evaluate --format json " + arguments + " --output " + file);
    EXPECT_EQ(result.code, 0) << result.output;
    return result.code == 0 ? nlohmann::json::parse(read_file(file)).at(0) : nlohmann::json();
  }
  static void expect_alike(const nlohmann::json& a, const nlohmann::json& b) {
    for (const char* key : {"accuracy", "regret", "outside", "cross_entropy", "traces", "reveals",
                            "bayes_cross_entropy", "chance", "tokens", "bounds", "count"})
      EXPECT_EQ(a.at(key), b.at(key)) << key;
  }
  ScratchFolder directory_;
};

TEST_F(Questions, AFilterJudgesAFileLikeItsSource) {
  const std::string task =
      "--group S3 --moves swaps --uncertainty branching --commands 24 --spacing 2 ";
  for (const char* tokenizer : {"lexeme", "bytes"}) {
    const std::string with = fmt::format("--tokenizer {} ", tokenizer);
    const std::string file = written(task + with + "--count 8");
    for (const char* filter :
         {"--filter exact ", "--filter linear --precision fp16 ", "--filter marginal ",
          "--filter window --window 3 ", "--filter rational ", "--filter last-seen "}) {
      SCOPED_TRACE(std::string(tokenizer) + " " + filter);
      const auto by_task = cell_of(filter + task + with + "--count 8");
      expect_alike(cell_of(filter + std::string("--count 8 --data ") + file), by_task);
      EXPECT_EQ(by_task.at("traces"), 8);
    }
    EXPECT_NEAR(cell_of("--filter exact --count 8 --data " + file).at("regret").get<double>(), 0,
                1e-12);
  }
}

TEST_F(Questions, ASchedulesFileIsJudgedLikeTheSchedule) {
  const std::string what = "--schedule " + kM5 + " --set N=4,ending=c ";
  const std::string file = written(what);
  for (const char* filter : {"--filter exact ", "--filter linear --precision bf16 "}) {
    const auto by_schedule = cell_of(filter + what);
    EXPECT_EQ(by_schedule.at("traces"), 12);
    expect_alike(cell_of(std::string(filter) + "--data " + file), by_schedule);
  }
  const std::string cells = written("--schedule " + kM5 + " --set N=1,4 --set ending=c");
  EXPECT_EQ(std::ranges::count(read_file(cells), '\n'), 24);
  // A part of the rows of all cells.
  const std::string some =
      written("--schedule " + kM5 + " --set N=1,4,ending=c --first-index 10 --count 5");
  EXPECT_EQ(std::ranges::count(read_file(some), '\n'), 5);
}

// Whatever else there is has no text: models read it back (evaluate_test.cpp), filters say no.
TEST_F(Questions, AFilterRefusesIdsThatStandForNoText) {
  const std::string kind = "--kind counters --set length=12,spacing=3 --count 20 ";
  const std::string file = written(kind);
  const std::string sentence = "a filter reads the text of traces, and these data are no text";
  for (const std::string& data : {"--data " + file, std::string("--kind counters")}) {
    const Result refused = run("evaluate --filter exact " + data);
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.output, HasSubstr(sentence)) << data;
  }
}

TEST_F(Questions, IdsSayWhatMadeThem) {
  const std::string file = written("--group S3 --commands 8 --spacing 2 --tokenizer bytes");
  EXPECT_THAT(read_file(file), HasSubstr(R"({"tokenizer":"bytes","ids":[)"));
  const Result wrong = run("evaluate --filter exact --tokenizer lexeme --data " + file);
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.output, HasSubstr("are those of the tokenizer 'bytes', not of 'lexeme'"));
  // Files of others say nothing: then --tokenizer does, or they are lexemes.
  std::string bare = read_file(file);
  bare.erase(bare.find("\"tokenizer\""), std::string("\"tokenizer\":\"bytes\",").size());
  write_file(directory_ / "bare.jsonl", bare);
  const std::string data = "--data " + (directory_ / "bare.jsonl");
  EXPECT_EQ(cell_of("--filter exact --tokenizer bytes " + data).at("accuracy"), 1.0);
  EXPECT_NE(run("evaluate --filter exact " + data).code, 0);
  write_file(directory_ / "mixed.jsonl", read_file(file) + bare);
  EXPECT_THAT(run("evaluate --filter exact --data " + (directory_ / "mixed.jsonl")).output,
              HasSubstr("all lines of a file must name the same 'tokenizer', or none"));
}

TEST_F(Questions, RowsThatDoNotDependOnTheSeedAreCountedOnce) {
  const std::string file = written(
      "--group S3 --moves swaps --uncertainty branching --commands 16 --spacing 2 "
      "--count 10");
  const std::string filter = "--filter uniform --data " + file;
  const auto once = cell_of(filter), twice = cell_of(filter + " --seed 0,1");
  expect_alike(twice, once);
  EXPECT_EQ(twice.at("bounds"), once.at("bounds"));
  EXPECT_EQ(twice.at("traces"), 10);
  EXPECT_EQ(twice.at("count"), 10);
  EXPECT_EQ(twice.at("seeds").size(), 1u);
  const Result text = run("evaluate " + filter + " --seed 0,1");
  EXPECT_THAT(text.output, HasSubstr("10 traces a seed, seed 0;"));
  EXPECT_THAT(text.output, HasSubstr("the rows of 1 of 1 cells do not depend on the seed: they are "
                                     "counted once, not for each of 2 seeds"));
  // Nor do those of a schedule in which nothing is drawn.
  write_file(directory_ / "certain.toml",
             "variables = 3\nnamings = \"all\"\nsteps = [{swap = \"a b\"}, {print = \"a\"}]\n");
  const std::string certain = "--filter uniform --schedule " + (directory_ / "certain.toml");
  EXPECT_EQ(cell_of(certain + " --seed 0..2").at("traces"), 6);
  // Nor of one in which what is drawn stays hidden: the last print follows from the text.
  EXPECT_EQ(cell_of("--filter uniform --schedule " + kM5 + " --set N=1,ending=c --seed 0..2")
                .at("traces"),
            12);
  // Those of one that shows what is drawn do, in a cycle or at the end.
  for (const char* name : {"MR", "graded-M5"}) {
    const std::string drawn =
        std::string(SHELLGAME_SOURCE_DIR "/experiments/uncertainty/schedules/") + name;
    EXPECT_EQ(
        cell_of("--filter uniform --schedule " + drawn + ".toml --set N=1 --count 5 --seed 0..2")
            .at("traces"),
        15)
        << name;
  }
}

TEST_F(Questions, FiltersAreJudgedInEveryPrecision) {
  const std::string task =
      " --group S3 --moves swaps --uncertainty branching --probability 0.3 --commands 64 "
      "--spacing 1 --count 8";
  double last = -1;
  for (const char* precision : {"fp64", "bf16"}) {
    const auto cell = cell_of("--filter linear --precision " + std::string(precision) + task);
    EXPECT_EQ(cell.at("model"), "filter linear");
    EXPECT_EQ(cell.at("precision"), precision);
    EXPECT_GT(cell.at("regret").get<double>(), last);
    last = cell.at("regret").get<double>();
  }
  for (const char* filter : {"exact", "log", "gain", "rational", "sparse"})
    EXPECT_NEAR(cell_of("--filter " + std::string(filter) + task).at("regret").get<double>(), 0,
                1e-9)
        << filter;
  EXPECT_GT(cell_of("--filter marginal" + task).at("regret").get<double>(), 0);
  for (const auto& [filter, sentence] :
       {std::pair("rational", "the rational filter is exact: it takes no --precision"),
        std::pair("uniform", "the baseline 'uniform' computes nothing: it takes no --precision")}) {
    const Result refused = run("evaluate --precision bf16 --filter " + std::string(filter) + task);
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.output, HasSubstr(sentence));
  }
}

TEST_F(Questions, SettingsComeTogetherOrOneByOne) {
  const std::string schedule = " --schedule " + kM5;
  const std::string together = schedule + " --set N=8,ending=c",
                    apart = schedule + " --set N=8 --set ending=c";
  for (const char* command :
       {"trace --format jsonl", "evaluate --filter uniform --format csv", "belief --format csv"}) {
    const Result a = run(command + together), b = run(command + apart);
    EXPECT_EQ(a.code, 0) << a.output;
    // The speed of an evaluation is not in its CSV.
    EXPECT_EQ(a.output, b.output) << command;
    EXPECT_FALSE(a.output.empty());
  }
  EXPECT_EQ(std::ranges::count(
                run("trace --format jsonl" + schedule + " --set N=1,4,ending=c,a").output, '\n'),
            4 * 12);
  EXPECT_THAT(run("trace" + schedule + " --set N=8,beginning=c").output,
              HasSubstr("has no parameter 'beginning'"));
  const std::string kind = "trace --format questions --kind counters --set ";
  EXPECT_EQ(run(kind + "modulus=5,counters=2").output,
            run(kind + "modulus=5 --set counters=2").output);
  EXPECT_EQ(run("trace --format questions --kind schedule --count 99 --set file=" + kM5 +
                ",set=N=8,ending=c")
                .output,
            run("trace --format questions" + together).output);
}

}  // namespace
}  // namespace shellgame
