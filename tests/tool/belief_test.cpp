// `shellgame belief` as a user meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "shellgame/system/files.h"
#include "tests/system/scratch.h"
#include "tests/tool/run_tool.h"

namespace shellgame {
namespace {

using ::testing::HasSubstr;

TEST(BeliefTool, HalvingPrintsTheCyclesSurvived) {
  const auto survived = [](const std::string& options) {
    const Result result = run("belief stability --halving --format json " + options);
    EXPECT_EQ(result.code, 0) << result.output;
    return nlohmann::json::parse(result.output)["cycles_survived"].get<int>();
  };
  EXPECT_EQ(survived("--precision fp32"), 149);
  EXPECT_EQ(survived("--precision fp32 --flush-subnormals"), 126);
  EXPECT_EQ(survived("--precision fp64"), 1074);
}

TEST(BeliefTool, ExamplesAgreeWithThePaper) {
  const Result result = run("belief examples");
  EXPECT_EQ(result.code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("2.656e-05"));
}

TEST(BeliefTool, TracesCarryTheBayesOptimalLabel) {
  const Result result =
      run("trace --group S2 --moves swaps --uncertainty branching --commands 1 --spacing 1 "
          "--format jsonl --with-beliefs");
  EXPECT_EQ(result.code, 0) << result.output;
  const auto json = nlohmann::json::parse(result.output);
  EXPECT_EQ(json["reveals"][0]["belief"], (nlohmann::json{{"1", 0.5}, {"2", 0.5}}));
  EXPECT_EQ(run("trace --with-beliefs").code, 2);
}

// Beliefs of 7 variables use threads themselves, inside those that make the traces.
TEST(BeliefTool, LabelsDoNotDependOnThreads) {
  const std::string command =
      "trace --group S7 --uncertainty branching --commands 12 --spacing 3 --count 40 "
      "--format jsonl --with-beliefs --threads ";
  const std::string one = run(command + "1").output;
  EXPECT_EQ(one, run(command + "2").output);
  EXPECT_EQ(one, run(command + "3").output);
}

TEST(BeliefTool, APrintThatContradictsItselfIsImpossible) {
  const ScratchFolder folder;
  const std::string path = folder / "trace.txt";
  write_file(path,
             ">>> from random import random\n>>> a = 1\n>>> b = 2\n"
             ">>> if random() < 0.5: a, b = b, a\n...\n>>> print('a', a, 'a', a)\na 1 a 2\n");
  const Result result = run("belief --trace " + path);
  EXPECT_EQ(result.code, 1) << result.output;
  EXPECT_THAT(result.output, HasSubstr("step 3: 'print('a', a, 'a', a) -> a 1 a 2 [a, place 2]'"));
  EXPECT_THAT(result.output, HasSubstr("is impossible"));
}

// What a process may have, as `ulimit -v` sets it, for the tools that it starts.
class AddressSpace {
 public:
  explicit AddressSpace(rlim_t bytes) {
    ::getrlimit(RLIMIT_AS, &before_);
    const rlimit less{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &less);
  }
  ~AddressSpace() { ::setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_;
};

TEST(BeliefTool, ABeliefThatMemoryCannotHoldIsRefusedWithBothNumbers) {
  const AddressSpace little(rlim_t{3} << 30);
  const Result result =
      run("belief --group S12 --uncertainty unknown-start --commands 1 --spacing 1");
  EXPECT_EQ(result.code, 1) << result.output;
  EXPECT_THAT(result.output,
              HasSubstr("a belief over all orders of 12 variables must fit in memory"));
  EXPECT_THAT(result.output, HasSubstr("needed, "));
}

// Two beliefs over 11 variables have 640 MB each.
TEST(BeliefTool, BeliefsThatDoNotFitSideBySideAreMadeOneByOne) {
  const AddressSpace little(rlim_t{1200} << 20);
  const Result result =
      run("trace --group S11 --uncertainty unknown-start --commands 2 --spacing 1 --count 2 "
          "--format jsonl --with-beliefs --threads 2");
  EXPECT_EQ(result.code, 0) << result.output.substr(0, 1000);
}

TEST(BeliefTool, EveryFormOfABeliefSaysTheSame) {
  const std::string task =
      "belief --group S3 --uncertainty branching --moves swaps --commands 6 --spacing 2 ";
  const auto json = nlohmann::json::parse(run(task + "--format json").output);
  const auto& steps = json["traces"][0]["steps"];
  ASSERT_EQ(steps.size(), 3u);
  const double survival = steps[1]["survival"];
  const auto& predicted = steps[1]["predicted"].begin().value();
  double sum = 0;
  for (const auto& [value, chance] : predicted.items()) sum += chance.get<double>();
  EXPECT_NEAR(sum, 1, 1e-12);
  for (const char* filter : {"linear", "log", "rational", "sparse", "gain"}) {
    const auto other = nlohmann::json::parse(run(task + "--format json --filter " + filter).output);
    EXPECT_NEAR(other["traces"][0]["steps"][1]["survival"].get<double>(), survival, 1e-12);
  }
  const std::string csv = run(task + "--format csv").output;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 3 * 3);
  EXPECT_THAT(run(task).output, HasSubstr("survival"));
}

TEST(BeliefTool, AnUnknownStartIsFoundByLaterOutputs) {
  const auto json = nlohmann::json::parse(
      run("belief --group S3 --uncertainty unknown-start --commands 6 --spacing 1 "
          "--reveals round-robin --format json --smooth --path")
          .output);
  EXPECT_EQ(json["traces"][0]["smoothed"]["start"].size(), 1u);
  EXPECT_EQ(json["traces"][0]["most_likely_path"]["states"][0],
            json["traces"][0]["smoothed"]["start"].begin().key());
}

TEST(BeliefTool, NextSymbolsHaveTheirExactChances) {
  const auto json =
      nlohmann::json::parse(run("belief --example monty-hall --next --format json").output);
  const auto& next = json["traces"][0]["next"];
  EXPECT_NEAR(next[0]["said"].get<double>(), 1.0 / 6, 1e-12);  // 'open 2', after 'open 3'
  EXPECT_NEAR(next[1]["said"].get<double>(), 5.0 / 6, 1e-12);
  EXPECT_NEAR(next[1]["holds"].get<double>(), 5.0 / 6, 1e-12);
}

TEST(BeliefTool, WrongInputIsOneSentence) {
  const ScratchFolder folder;
  const std::string file = folder / "wrong.toml";
  const auto expect = [&](const std::string& arguments, int code, const std::string& part) {
    const Result result = run(arguments);
    EXPECT_EQ(result.code, code) << result.output;
    EXPECT_THAT(result.output, HasSubstr(part));
  };
  write_file(file, "states = ['1', '2']\nstart = '1'\n[symbol.x]\nnext = { '1' = '2' }\n");
  expect("belief --automaton " + file, 2, "symbol 'x', state '2': the column must sum to 1");
  write_file(file, "states = ['1', '2']\nstart = '1'\nword = ['x']\n[symbol.x]\nreveal = ['2']\n");
  expect("belief --automaton " + file, 1, "step 1: 'x' is impossible");
  write_file(file, ">>> a = 1\n>>> b = 2\n>>> a, b = b, a\n>>> print('a', a)\na 1\n");
  expect("belief --trace " + file, 1, "is impossible");
  expect("belief --filter rational --precision fp16", 2, "the rational filter is exact");
  expect("belief --sample-word 5", 2, "--sample-word draws from an automaton");
  expect("belief --format csv --smooth", 2, "not csv");
  expect("belief --filter exakt", 2, "must be one of exact");
  expect("belief --group S20 --uncertainty unknown-start --commands 2 --spacing 1", 2, "at most");
  expect("belief --example joint-cycle --filter marginal", 2,
         "the marginal filter needs orders of 1 to 4096 variables, not listed states");
}

}  // namespace
}  // namespace shellgame
