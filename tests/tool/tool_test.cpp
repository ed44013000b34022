// The tool as a user meets it: exit codes, messages, files, documentation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "shellgame/system/files.h"
#include "tests/system/scratch.h"
#include "tests/tool/run_tool.h"

namespace shellgame {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Tool : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }

  ScratchFolder folder_;
};

TEST_F(Tool, WrongUseIsOneSentenceAndExitCodeTwo) {
  const auto expect = [](const std::string& arguments, const std::string& part) {
    const Result result = run(arguments);
    EXPECT_EQ(result.code, 2) << arguments << "\n" << result.output;
    EXPECT_THAT(result.output, StartsWith("shellgame: ")) << arguments;
    EXPECT_THAT(result.output, HasSubstr(part)) << arguments;
    EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 1) << result.output;
  };
  expect("trace --spcaing 4",
         "'--spcaing' is not an option of 'shellgame trace'; did you mean '--spacing'?");
  expect("trcae", "did you mean 'trace'?");
  expect("trace --spacing 0",
         "--spacing: spacing must be a whole number from 1 to 1000000000000, not '0'");
  expect("trace --group Q8", "--group: ");
  expect("trace --format xml", "--format");
  expect("trace --task /nowhere.toml --count x", "--count");
  expect("trace --format tokens", "--output must be a file");
  expect("trace --threads 0", "threads");
  expect("trace --threads 100000", "from 1 to 1024");
  expect("trace --count -1", "--count must be a whole number");
  expect("trace --first-index 18446744073709551615 --count 2",
         "--first-index must be a whole number from 0 to 2^63 - 1");
  expect("trace --group A5 --uncertainty branching --mixtures '0.5 (1 2), 0.5 ()'",
         "mixtures must stay in the group A5");
  expect("help nothing", "'nothing' is not a command");
  expect("completion fish", "bash");
  expect("tokens", "shellgame tokens --help");
}

TEST_F(Tool, FailureIsExitCodeOne) {
  EXPECT_EQ(run("trace --task /nowhere.toml").code, 1);
  EXPECT_EQ(run("verify /nowhere.txt").code, 1);
  EXPECT_EQ(run("trace --output /nowhere/file").code, 1);
  EXPECT_EQ(run("trace --python /nowhere/python --verify").code, 1);
  write_file(path("wrong.txt"), ">>> a = 1\n>>> print('a', a)\na 2\n");
  const Result result = run("verify " + path("wrong.txt"));
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.output, HasSubstr("1 mismatches"));
  EXPECT_THAT(result.output, HasSubstr("trace 0, line 2"));
}

TEST_F(Tool, VerifyJudgesForeignCodeAndSaysHowItRan) {
  write_file(path("mixed.jsonl"), R"({"text": ">>> a = 1\n>>> print('a', a)\na 1\n"})"
                                  "\n"
                                  R"({"text": ">>> import os\n>>> os._exit(3)\n"})"
                                  "\n"
                                  R"({"text": ">>> import time\n>>> time.sleep(1000)\n"})"
                                  "\n"
                                  R"({"text": ">>> 1 + 1\n2\n"})"
                                  "\n");
  const Result result = run("verify --time-limit 1 " + path("mixed.jsonl"));
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.output, HasSubstr("trace 1, line 2: os._exit(3)\n  expected: \n  got:      "
                                       "[the session ended with exit code 3]\n"));
  EXPECT_THAT(result.output, HasSubstr("[stopped: the session took longer than 1 s]"));
  EXPECT_THAT(result.output, HasSubstr("4 traces, 7 examples, 2 outputs, 2 mismatches"));
  EXPECT_THAT(result.output, HasSubstr("3 of these traces are outside the trace language; each ran "
                                       "in a process of its own: "));
  for (const std::string option : {"--time-limit 0", "--time-limit 1e9", "--time-limit nan",
                                   "--memory-limit 1", "--memory-limit x"}) {
    const Result wrong = run("verify " + path("mixed.jsonl") + " " + option);
    EXPECT_EQ(wrong.code, 2) << option << "\n" << wrong.output;
    EXPECT_EQ(std::count(wrong.output.begin(), wrong.output.end(), '\n'), 1) << wrong.output;
  }
  EXPECT_THAT(run("verify --help").output, HasSubstr("This runs the traces' code."));
}

TEST_F(Tool, BytesDoNotDependOnThreads) {
  for (const std::string format : {"text", "jsonl", "tokens", "word-problem"}) {
    for (const char* threads : {"1", "2", "5"}) {
      const Result result = run("trace --count 700 --commands 20 --format " + format +
                                " --threads " + threads + " --output " + path(format + threads));
      ASSERT_EQ(result.code, 0) << result.output;
    }
    EXPECT_EQ(read_file(path(format + "1")), read_file(path(format + "2"))) << format;
    EXPECT_EQ(read_file(path(format + "1")), read_file(path(format + "5"))) << format;
    EXPECT_GT(read_file(path(format + "1")).size(), 1000u);
  }
}

TEST_F(Tool, FirstIndexCutsTheSameTraces) {
  ASSERT_EQ(run("trace --count 10 --format jsonl --output " + path("all")).code, 0);
  ASSERT_EQ(run("trace --count 4 --format jsonl --output " + path("first")).code, 0);
  ASSERT_EQ(run("trace --count 6 --first-index 4 --format jsonl --output " + path("rest")).code, 0);
  EXPECT_EQ(read_file(path("all")), read_file(path("first")) + read_file(path("rest")));
}

TEST_F(Tool, LongTracesAreWrittenInPiecesWithTheSameText) {
  ASSERT_EQ(run("trace --commands 70000 --spacing 100 --group S3 --output " + path("pieces")).code,
            0);
  ASSERT_EQ(run("trace --commands 70000 --spacing 100 --group S3 --format jsonl --output " +
                path("whole"))
                .code,
            0);
  const auto json = nlohmann::json::parse(read_file(path("whole")));
  const std::string pieces = read_file(path("pieces"));
  EXPECT_EQ(pieces.substr(pieces.find('\n') + 1), json["text"].get<std::string>());
}

TEST_F(Tool, TokensGoThereAndBack) {
  ASSERT_EQ(
      run("trace --count 5 --uncertainty skipped --format jsonl --output " + path("traces")).code,
      0);
  for (const std::string name : {"lexeme", "bytes"}) {
    ASSERT_EQ(run("tokens encode --tokenizer " + name + " --input " + path("traces") +
                  " --output " + path("ids"))
                  .code,
              0);
    ASSERT_EQ(run("tokens decode --tokenizer " + name + " --input " + path("ids") + " --output " +
                  path("back"))
                  .code,
              0);
    std::istringstream before(read_file(path("traces"))), after(read_file(path("back")));
    for (std::string a, b; std::getline(before, a) && std::getline(after, b);) {
      EXPECT_EQ(nlohmann::json::parse(a), nlohmann::json::parse(b));
    }
  }
  write_file(path("wrong"), "{\"text\": \">>> a = 1\\n\"}\n{\"text\": \"Hello!\"}\n");
  const Result result = run("tokens encode --input " + path("wrong"));
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.output, HasSubstr("wrong:2: "));
}

TEST_F(Tool, ParseShowsThePapersStates) {
  const Result result = run("parse " SHELLGAME_SOURCE_DIR "/tests/golden/paper-listing.txt");
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.output, HasSubstr("# states: 213 231 132"));
}

TEST_F(Tool, WhatParsePrintsIsATraceAgain) {
  ASSERT_EQ(
      run("trace --group S3 --count 3 --commands 6 --spacing 1 --uncertainty branching --output " +
          path("t"))
          .code,
      0);
  ASSERT_EQ(run("parse " + path("t") + " > " + path("again")).code, 0);
  const Result verified = run("verify " + path("again"));
  EXPECT_EQ(verified.code, 0) << verified.output;
  EXPECT_THAT(verified.output, HasSubstr("3 traces"));
  // Without the hidden seed there are no states to know.
  ASSERT_EQ(run("trace --group S3 --count 2 --commands 6 --uncertainty branching --bare --output " +
                path("b"))
                .code,
            0);
  EXPECT_THAT(run("parse " + path("b")).output, HasSubstr("# states: hidden"));
  EXPECT_THAT(run("parse --format jsonl " + path("b")).output, HasSubstr("\"states\": []"));
}

TEST_F(Tool, BlankLinesMayStandBetweenExamples) {
  write_file(path("t"),
             ">>> a = 1\n>>> b = 2\n\n>>> a, b = b, a\n\n>>> print('a', a)\na 2\n\n>>> a = 1\n>>> "
             "print('a', a)\na 1\n");
  const Result result = run("verify " + path("t"));
  EXPECT_EQ(result.code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("2 traces, 6 examples"));
  EXPECT_EQ(run("parse " + path("t")).code, 0);
}

TEST_F(Tool, AFileWithoutExamplesIsNotVerified) {
  write_file(path("t"), "hello\n");
  EXPECT_EQ(run("verify " + path("t")).code, 1);
}

TEST_F(Tool, ALinkStaysALink) {
  write_file(path("file"), "before");
  std::filesystem::create_symlink(path("file"), path("link"));
  ASSERT_EQ(run("trace --output " + path("link")).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_THAT(read_file(path("file")), StartsWith("# shellgame trace"));
}

TEST_F(Tool, TaskFilesAndOptionsAgree) {
  ASSERT_EQ(
      run("trace --group S4 --moves swaps --spacing 3 --uncertainty branching --print-task > " +
          path("t.toml"))
          .code,
      0);
  const Result by_file = run("trace --task " + path("t.toml"));
  const Result by_options =
      run("trace --group S4 --moves swaps --spacing 3 --uncertainty branching");
  EXPECT_EQ(by_file.code, 0) << by_file.output;
  EXPECT_EQ(by_file.output, by_options.output);
  EXPECT_NE(run("trace --task " + path("t.toml") + " --spacing 4").output, by_file.output);
  // Options win over the file, also where the file alone would be wrong.
  write_file(path("seven.toml"), "reveal-count = 7\n");
  EXPECT_EQ(run("trace --group S7 --task " + path("seven.toml")).code, 0);
  EXPECT_EQ(run("trace --task " + path("seven.toml")).code, 2);
}

TEST_F(Tool, ShardsAreReadByNumPysRule) {
  ASSERT_EQ(run("trace --count 3 --format tokens --output " + path("shard")).code, 0);
  ASSERT_EQ(run("trace --count 3 --format jsonl --output " + path("traces")).code, 0);
  ASSERT_EQ(run("tokens encode --input " + path("traces") + " --output " + path("ids")).code, 0);
  const auto index = nlohmann::json::parse(read_file(path("shard.json")));
  EXPECT_EQ(index["dtype"], "uint16");
  EXPECT_EQ(index["generator"], 1);
  const std::string bytes = read_file(path("shard"));
  std::istringstream lines(read_file(path("ids")));
  std::size_t at = 0, trace = 0;
  for (std::string line; std::getline(lines, line); ++trace) {
    const auto json = nlohmann::json::parse(line);
    for (const auto& id : json["ids"]) {
      const auto low = static_cast<unsigned char>(bytes[2 * at]),
                 high = static_cast<unsigned char>(bytes[2 * at + 1]);
      ASSERT_EQ(id.get<unsigned>(), low + 256u * high);
      ++at;
    }
    EXPECT_EQ(index["offsets"][trace + 1], at);
  }
  EXPECT_EQ(2 * at, bytes.size());
}

TEST_F(Tool, ReferenceIsCurrent) {
  EXPECT_EQ(run("help --markdown").output, read_file(SHELLGAME_SOURCE_DIR "/docs/cli.md"))
      << "run: build/release/shellgame help --markdown > docs/cli.md";
}

TEST_F(Tool, SignatureIsTheOneThatTheChangelogStates) {
  const std::string signature = run("signature").output.substr(0, 16);
  EXPECT_THAT(read_file(SHELLGAME_SOURCE_DIR "/CHANGELOG.md"), HasSubstr(signature));
}

TEST_F(Tool, CompletionKnowsCommandsOptionsAndWords) {
  write_file(path("complete.sh"), "source <(" SHELLGAME_TOOL
                                  " completion bash)\n"
                                  "try() { COMP_WORDS=(shellgame \"$@\"); COMP_CWORD=$#; "
                                  "_shellgame; echo \"${COMPREPLY[*]}\"; }\n"
                                  "try tr\ntry trace --unc\ntry trace --moves sw\ntry tokens "
                                  "en\ntry trace --verify --unc\ntry verify x.jsonl --fo\n");
  std::FILE* pipe = ::popen(("bash " + path("complete.sh")).c_str(), "r");
  std::array<char, 4096> buffer{};
  const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe);
  ::pclose(pipe);
  EXPECT_EQ(std::string(buffer.data(), got),
            "trace train\n--uncertainty --uncertain-share\nswaps\nencode\n--uncertainty "
            "--uncertain-share\n--format\n");
}

}  // namespace
}  // namespace shellgame
