// `shellgame model` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
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
  EXPECT_THAT(read_file(SHELLGAME_TOOL), Not(HasSubstr("libtorch")));
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
  refuse(small + " --set hidden_size=-3", 2, "at least 1");
  refuse(small + " --set num_hidden_layers=1000000000", 2, "at most 10000");
  refuse(
      "model new --set model_type=shellgame_hybrid --set 'layers=[\"nope\"]' --output " + in("x"),
      2, "not 'nope'");
  refuse("model generate " + kFixture + " --prompt x --temperature -1", 2, "not below 0");
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
