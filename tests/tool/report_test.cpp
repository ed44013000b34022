// `shellgame report` as a user meets it: a page of a sweep, and of a word problem with its probes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "shellgame/system/files.h"
#include "tests/report/small_run.h"
#include "tests/system/scratch.h"
#include "tests/tool/run_tool.h"

namespace shellgame {
namespace {

using testing::HasSubstr;

TEST(ReportTool, APageOfSeveralRunsIsWrittenWhereItIsAskedFor) {
  const ScratchFolder folder;
  write_small_run(folder / "sweep/seed-0", {.seed = 0, .accuracy = 0.5});
  write_small_run(folder / "sweep/seed-1", {.seed = 1, .accuracy = 0.75});
  const Result result = run("report " + (folder / "sweep"));
  EXPECT_EQ(result.code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("report.html: 2 runs, "));
  EXPECT_THAT(read_file(folder / "sweep/report.html"), HasSubstr("0.6250 ± 0.1768"));
  const Result printed = run("report " + (folder / "sweep/seed-1") + " --output -");
  EXPECT_THAT(printed.output, testing::StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(printed.output, HasSubstr("/sweep/seed-1 --output -"));
}

TEST(ReportTool, WrongUseIsOneSentenceAndLeavesNothing) {
  const ScratchFolder folder;
  const Result missing = run("report " + (folder / "nowhere"));
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.output, HasSubstr("nowhere"));
  std::filesystem::create_directories(folder / "empty");
  const Result empty = run("report " + (folder / "empty") + " --output " + (folder / "page.html"));
  EXPECT_NE(empty.code, 0);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"empty"});
  EXPECT_EQ(run("report").code, 2);
}

TEST(ReportTool, ProbesARunOfAWordProblemAndSaysWhatItCannotProbe) {
  const ScratchFolder folder;
  write_file(folder / "words.toml", R"(
threads = 1
[task]
kind = "word-problem"
group = "S3"
length = 8
[model]
model_type = "delta_net"
hidden_size = 16
num_hidden_layers = 1
num_heads = 1
intermediate_size = 16
allow_neg_eigval = true
[[stages]]
batch = 2
steps = 2
[evaluation]
length = 8
count = 2
)");
  const std::string trained = folder / "run";
  ASSERT_EQ(run("train " + (folder / "words.toml") + " --quiet --run " + trained).code, 0);
  const Result result = run("report " + trained + " --probe");
  EXPECT_EQ(result.code, 0) << result.output;
  const auto betas = nlohmann::json::parse(read_file(trained + "/probes/betas.json"));
  EXPECT_THAT(betas.at("task").get<std::string>(), HasSubstr("S3"));
  EXPECT_THAT(read_file(trained + "/report.html"), HasSubstr("Evidence for the tracking head"));

  const std::string parity = folder / "parity";
  std::string other = read_file(folder / "words.toml");
  other.replace(other.find("kind = \"word-problem\"\ngroup = \"S3\""), 34, "kind = \"parity\"");
  write_file(folder / "parity.toml", other);
  ASSERT_EQ(run("train " + (folder / "parity.toml") + " --quiet --run " + parity).code, 0);
  EXPECT_EQ(run("report " + parity + " --probe").code, 0);
  EXPECT_THAT(read_file(parity + "/report.html"),
              HasSubstr("this probe needs steps that move values between variables"));
  EXPECT_TRUE(std::filesystem::exists(parity + "/probes/betas.json")) << "it needs none";
}

}  // namespace
}  // namespace shellgame
