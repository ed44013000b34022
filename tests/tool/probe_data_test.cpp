// `shellgame probe` of data that have no steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "run_tool.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

using testing::HasSubstr;

TEST(ProbeData, CountersAndFilesAreProbedWhereNoStepsAreNeeded) {
  const ScratchFolder directory;
  const Result made =
      run("model new --set model_type=delta_net --set hidden_size=16 --set num_heads=2 --set "
          "num_hidden_layers=1 --set vocab_size=14 --output " +
          (directory / "model"));
  ASSERT_EQ(made.code, 0) << made.output;
  const std::string kind = " --kind counters --set length=12,spacing=3 ";
  const Result rows =
      run("trace" + kind + "--count 6 --seed 9223372036854775808 --format questions --output " +
          (directory / "rows.jsonl"));
  ASSERT_EQ(rows.code, 0) << rows.output;
  const std::string file = " --data " + (directory / "rows.jsonl");
  const auto asked = [&](const std::string& probe, const std::string& data) {
    const Result result =
        run("probe " + probe + " --format json --model " + (directory / "model") + data);
    EXPECT_EQ(result.code, 0) << result.output;
    return result.code == 0 ? nlohmann::json::parse(result.output) : nlohmann::json();
  };
  for (const char* probe : {"betas", "intervene --change ablate"}) {
    const auto by_kind = asked(probe, kind + "--count 6"),
               by_file = asked(probe, file + " --count 64");
    EXPECT_EQ(by_file.at("count"), 6) << "a file has no more rows than it has";
    EXPECT_EQ(by_file.at("heads"), by_kind.at("heads")) << probe;
    EXPECT_EQ(by_kind.at("heads").size(), 2u);
  }
  EXPECT_EQ(asked("betas", kind).at("kinds").at(0).at("kind"), "other");
  for (const char* probe : {"keys", "state", "find-tracker"}) {
    for (const std::string& data : {kind, file}) {
      const Result refused =
          run(std::string("probe ") + probe + " --model " + (directory / "model") + data);
      EXPECT_EQ(refused.code, 2);
      EXPECT_THAT(refused.output,
                  HasSubstr("this probe needs steps that move values between variables"));
    }
  }
}

}  // namespace
}  // namespace shellgame
