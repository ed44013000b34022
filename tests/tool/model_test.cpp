// `shellgame model` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "run_tool.h"
#include "shellgame/system/files.h"
#include "shellgame/tensors/npy.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

const std::string kFixture = SHELLGAME_TEST_DATA "/models/delta_net";

class ModelTool : public testing::Test {
 protected:
  std::string in(const std::string& name) const { return folder_ / name; }

  ScratchFolder folder_;
};

TEST(ModelToolItself, DoesNotLinkTorch) {
  // What it loads at its start; the names of libraries that it may meet later are in it as well.
  const Result loads = run_script("LC_ALL=C ldd $tool");
  EXPECT_EQ(loads.code, 0) << loads.output;
  EXPECT_THAT(loads.output, HasSubstr("libfmt"));
  EXPECT_THAT(loads.output, Not(HasSubstr("libtorch")));
}

TEST_F(ModelTool, DescribesAModel) {
  const Result text = run("model describe " + kFixture);
  EXPECT_EQ(text.code, 0) << text.output;
  EXPECT_THAT(text.output, HasSubstr("model.layers.1.attn.k_conv1d.weight"));
  const Result json = run("model describe --format json " + kFixture);
  const auto parsed = nlohmann::json::parse(json.output);
  EXPECT_EQ(parsed.at("layers").size(), 2u);
  EXPECT_TRUE(parsed.at("constant_memory").get<bool>());
}

TEST_F(ModelTool, LogitsAreFlasInSegmentsToo) {
  for (const char* segment : {"4096", "7"}) {
    const Result result = run("model logits " + kFixture + " --ids " + kFixture +
                              "/ids.json --output " + in("out.npy") + " --segment " + segment);
    ASSERT_EQ(result.code, 0) << result.output;
    const NpyFile ours(in("out.npy")), theirs(kFixture + "/logits.npy");
    ASSERT_EQ(ours.shape(), theirs.shape());
    const std::vector<float> a = ours.floats(), b = theirs.floats();
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-4);
  }
}

TEST_F(ModelTool, MakesConvertsAndContinues) {
  Result result =
      run("model new --set model_type=delta_net --set hidden_size=32 --set num_heads=2 "
          "--set num_hidden_layers=1 --set vocab_size=90 --lexemes --seed 4 --output " +
          in("new"));
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_TRUE(fs::exists(in("new/tokenizer.json")));
  result = run("model export " + in("new") + " --precision bf16 --max-shard-bytes 20000 --output " +
               in("out"));
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_TRUE(fs::exists(in("out/model.safetensors.index.json")));
  EXPECT_TRUE(fs::exists(in("out/tokenizer.json")));
  result = run("model import " + in("out") + " --output " + in("back"));
  ASSERT_EQ(result.code, 0) << result.output;
  const std::string generate = "model generate " + in("new") + " --prompt '>>> a = ' --tokens 40";
  result = run(generate);
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_THAT(result.output, testing::StartsWith(">>> a = "));
  EXPECT_EQ(run(generate + " --temperature 1 --seed 1").output,
            run(generate + " --temperature 1 --seed 1").output);
  EXPECT_NE(run(generate + " --temperature 1 --seed 1").output,
            run(generate + " --temperature 1 --seed 2").output);
}

// A weight that is NaN, and weights so large that what they give is not finite.
TEST_F(ModelTool, AModelWhoseNumbersAreNotFiniteGivesASentenceAndNoAnswer) {
  const std::string new_model =
      "model new --set model_type=delta_net --set hidden_size=32 --set num_heads=2 --set "
      "num_hidden_layers=1 --set vocab_size=90 --lexemes --output ";
  ASSERT_EQ(run(new_model + in("nan")).code, 0);
  ASSERT_EQ(run(new_model + in("huge")).code, 0);
  std::string nan = read_file(in("nan/model.safetensors")), huge = nan;
  const float no_number = std::nanf(""), large = 3e38F;
  std::memcpy(nan.data() + nan.size() - sizeof(float), &no_number, sizeof(float));
  std::uint64_t header = 0;
  std::memcpy(&header, huge.data(), sizeof header);
  for (std::size_t at = sizeof header + header; at < huge.size(); at += sizeof(float))
    std::memcpy(huge.data() + at, &large, sizeof(float));
  write_file(in("nan/model.safetensors"), nan);
  write_file(in("huge/model.safetensors"), huge);
  const std::string task = " --group S3 --commands 4 --spacing 2 --count 2";
  for (const std::string model : {"nan", "huge"}) {
    for (const std::string& arguments :
         {"model generate " + in(model) + " --prompt '>>> a = '",
          "model generate " + in(model) + " --prompt '>>> a = ' --temperature 1",
          "evaluate --model " + in(model) + task,
          "evaluate --mode free --model " + in(model) + task,
          "probe betas --model " + in(model) + task, "probe keys --model " + in(model) + task,
          "probe state --model " + in(model) + task,
          "probe find-tracker --model " + in(model) + task,
          "probe intervene --change scale --model " + in(model) + task}) {
      const Result result = run(arguments);
      EXPECT_EQ(result.code, 1) << arguments << "\n" << result.output;
      EXPECT_THAT(result.output, HasSubstr("finite")) << arguments;
      EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 1) << result.output;
    }
  }
  const Result result = run("model generate " + in("nan") + " --prompt x");
  EXPECT_THAT(result.output, HasSubstr("weight"));
}

TEST_F(ModelTool, WrongInputIsRefusedInASentence) {
  const auto refuse = [](const std::string& arguments, int code, const std::string& part) {
    const Result result = run(arguments);
    EXPECT_EQ(result.code, code) << arguments << "\n" << result.output;
    EXPECT_THAT(result.output, HasSubstr(part)) << arguments;
    EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 1) << result.output;
  };
  refuse("model describe " + in("missing"), 1, "config.json");
  write_file(in("ids.json"), "[[1, 2], [3]]");
  refuse("model logits " + kFixture + " --ids " + in("ids.json") + " --output " + in("o.npy"), 2,
         "equally long");
  write_file(in("ids.json"), "[[1, 200]]");
  refuse("model logits " + kFixture + " --ids " + in("ids.json") + " --output " + in("o.npy"), 2,
         "from 0 to 47, not 200");
  for (const char* wrong : {"[[1.5]]", "[[99999999999999999999]]", "[[18446744073709551615]]"}) {
    write_file(in("ids.json"), wrong);
    refuse("model logits " + kFixture + " --ids " + in("ids.json") + " --output " + in("o.npy"), 2,
           "whole number");
  }
  EXPECT_FALSE(fs::exists(in("o.npy")));
  const std::string small = "model new --set model_type=delta_net --output " + in("x");
  refuse(small + " --set nun_heads=2", 2, "did you mean 'num_heads'?");
  refuse(small + " --set hidden_size=-3", 2, "'hidden_size' must be a whole number from 1 to");
  refuse(small + " --set norm_eps=-1", 2, "'norm_eps' must be a number from 0 to 1, not -1");
  refuse(small + " --set num_heads=18446744073709551615", 2, "'num_heads' must be a whole number");
  refuse(small + " --lexemes --set vocab_size=3", 2, "'vocab_size' must be at least 90");
  refuse(small + " --set hidden_size=1048576 --set vocab_size=16777216 --set num_heads=1", 1,
         "must fit in memory: about");
  refuse(small + " --set num_hidden_layers=1000000000", 2, "from 1 to 10000");
  refuse(
      "model new --set model_type=shellgame_hybrid --set 'layers=[\"nope\"]' --output " + in("x"),
      2, "not 'nope'");
  refuse("model generate " + kFixture + " --prompt x --temperature -1", 2, "from 0 to");
  refuse("model new --set model_type=gpt --output " + in("x"), 2, "'gpt'");
  refuse("model new --set hidden_size --output " + in("x"), 2, "KEY=VALUE");
  refuse("model generate " + kFixture, 2, "--prompt");
  EXPECT_FALSE(fs::exists(in("x")));
  std::ofstream(in("cut"));  // a damaged checkpoint
  fs::create_directories(in("damaged"));
  fs::copy(kFixture + "/config.json", in("damaged/config.json"));
  write_file(in("damaged/model.safetensors"),
             read_file(kFixture + "/model.safetensors").substr(0, 5000));
  refuse("model describe " + in("damaged"), 2, "model.safetensors");
}

}  // namespace
}  // namespace shellgame
