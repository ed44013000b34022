// Files and settings that are nested so deep that a walk over them would exhaust the stack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "../report/small_run.h"
#include "../system/scratch.h"
#include "run_tool.h"
#include "shellgame/system/files.h"

namespace shellgame {
namespace {

constexpr int kDeep = 200'000;

std::string many(const std::string& text, int count = kDeep) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

void expect_nesting_refused(const std::string& arguments, const std::string& where) {
  const Result result = run(arguments);
  EXPECT_EQ(result.code, 2) << arguments << ": " << result.output.substr(0, 300);
  EXPECT_THAT(result.output, testing::HasSubstr(where));
  EXPECT_THAT(result.output, testing::HasSubstr("at most 100"));
  EXPECT_EQ(std::ranges::count(result.output, '\n'), 1) << result.output.substr(0, 300);
  EXPECT_LT(result.output.size(), 1000u);
}

TEST(Nesting, DeepJsonIsRefusedWithItsPlace) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / "model");
  for (const std::string& text : {many("["), many("[") + many("]"), many("{\"a\":")}) {
    write_file(folder / "model/config.json", text);
    expect_nesting_refused("model describe " + (folder / "model"), "config.json:1:");
  }
  const std::string line = R"({"text": "a", "more": )" + many("[") + many("]") + "}\n";
  write_file(folder / "lines.jsonl", "{\"text\": \"a\"}\n" + line);
  expect_nesting_refused("tokens encode --input " + (folder / "lines.jsonl"),
                         "lines.jsonl:2:122: ");
  write_file(folder / "trace.jsonl", line);
  expect_nesting_refused("verify " + (folder / "trace.jsonl"), "trace.jsonl:1:122: ");
  write_file(folder / "certificate.json", line);
  expect_nesting_refused("belief check " + (folder / "certificate.json"),
                         "certificate.json:1:122: ");
  write_small_run(folder / "run", {});
  write_file(folder / "run/result.json", "{\"a\": " + many("[") + many("]") + "}");
  expect_nesting_refused("report " + (folder / "run"), "run/result.json:1:");
}

TEST(Nesting, DeepTomlIsRefusedWithItsPlace) {
  const ScratchFolder folder;
  const std::string file = folder / "deep.toml";
  for (const std::string& text :
       {"a" + many(".a", 60'000) + " = 1\n", "[a" + many(".a", 60'000) + "]\nb = 1\n",
        "[[a" + many(". \"a\"", 60'000) + "]]\n", "a = " + many("[") + "\n",
        "a = " + many("{a=") + "\n", "a = {a" + many(".'a'", 60'000) + " = 1}\n",
        "s = [\"\"\"x\"\"\"\", " + many("[", 101) + "\n"}) {
    write_file(file, text);
    for (const char* command : {"trace --task ", "belief --automaton ", "sweep --run /nowhere/x "})
      expect_nesting_refused(command + file, "deep.toml:1:");
  }
}

TEST(Nesting, DeepSettingsAreRefused) {
  const std::string file = SHELLGAME_SOURCE_DIR "/experiments/smoke/experiment.toml";
  expect_nesting_refused("sweep --run /nowhere/x " + file + " --set a" + many(".a", 30'000) + "=1",
                         "--set");
}

// The files of others are deeper than ours, and are read.
TEST(Nesting, AHundredDeepIsRead) {
  const ScratchFolder folder;
  write_file(folder / "lines.jsonl",
             R"({"text": "a", "more": )" + many("[", 99) + many("]", 99) + "}\n");
  EXPECT_EQ(run("tokens encode --input " + (folder / "lines.jsonl")).code, 0);
}

}  // namespace
}  // namespace shellgame
