#include "shellgame/models/checkpoint.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "tests/models/expect_equal.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::HasSubstr;

class Checkpoint : public testing::Test {
 protected:
  std::string in(const std::string& name) const { return folder_ / name; }

  ScratchFolder folder_;
};

Json small(Json changes = Json::object()) {
  Json config = {{"model_type", "delta_net"}, {"hidden_size", 16},
                 {"num_hidden_layers", 2},    {"num_heads", 2},
                 {"vocab_size", 11},          {"intermediate_size", 24}};
  config.update(changes);
  return config;
}

// Runs and gives the sentence of the error.
template <class Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST_F(Checkpoint, ComesBackBitForBit) {
  const Model model(ModelConfig(small()), {.seed = 3});
  save_model(model, in("a"));
  expect_equal(load_model(in("a")), model);
  // The configuration too.
  EXPECT_EQ(read_config(in("a")).json().dump(), [&] {
    Json json = model.config().json();
    json["dtype"] = "float32";
    return json.dump();
  }());
}

TEST_F(Checkpoint, ComesBackFromShards) {
  const Model model(ModelConfig(small()), {.seed = 3});
  save_model(model, in("a"), {.max_shard_bytes = 2000});
  EXPECT_TRUE(fs::exists(in("a") + "/model.safetensors.index.json"));
  expect_equal(load_model(in("a")), model);
}

TEST_F(Checkpoint, DoublesStayDoubles) {
  Model model(ModelConfig(small()), {.seed = 3});
  model.to(at::kDouble);
  save_model(model, in("a"), {.dtype = Dtype::kF64});
  const Model again = load_model(in("a"));
  EXPECT_EQ(again.parameters().front().value.scalar_type(), at::kDouble);
  expect_equal(again, model);
}

TEST_F(Checkpoint, SixteenBitsAreRounded) {
  const Model model(ModelConfig(small()), {.seed = 3});
  save_model(model, in("a"), {.dtype = Dtype::kBf16});
  const Model again = load_model(in("a"));
  for (std::size_t i = 0; i < model.parameters().size(); ++i) {
    const at::Tensor rounded = model.parameters()[i].value.to(at::kBFloat16).to(at::kFloat);
    EXPECT_TRUE(again.parameters()[i].value.equal(rounded));
  }
  EXPECT_THAT(read_file(in("a") + "/config.json"), HasSubstr("bfloat16"));
}

TEST_F(Checkpoint, AnOldNameOfTheOutputNormIsKnown) {
  const Model model(ModelConfig(small()), {.seed = 3});
  save_model(model, in("a"));
  // The same file under the name that early checkpoints have (and one letter of padding per name).
  std::string bytes = read_file(in("a") + "/model.safetensors");
  for (std::size_t at = 0; (at = bytes.find("attn.o_norm.weight\"", at)) != std::string::npos;) {
    bytes.replace(at, 19, "attn.norm.weight\"  ");
  }
  write_file(in("a") + "/model.safetensors", bytes);
  expect_equal(load_model(in("a")), model);
}

TEST_F(Checkpoint, WhatDoesNotFitIsRefusedByName) {
  save_model(Model(ModelConfig(small())), in("a"));
  const auto with_config = [&](Json changes) {
    Json config = Json::parse(read_file(in("a") + "/config.json"));
    config.update(changes);
    fs::remove_all(in("b"));
    fs::copy(in("a"), in("b"));
    write_file(in("b") + "/config.json", config.dump());
    return refusal([&] { load_model(in("b")); });
  };
  EXPECT_THAT(with_config({{"vocab_size", 12}}), HasSubstr("model.embeddings.weight"));
  EXPECT_THAT(with_config({{"use_gate", true}}), HasSubstr("g_proj.weight"));
  EXPECT_THAT(with_config({{"use_beta", false}}), HasSubstr("b_proj.weight"));
  EXPECT_THAT(with_config({{"model_type", "gpt"}}), HasSubstr("'gpt'"));
  EXPECT_THAT(with_config({{"num_heads", "two"}}), HasSubstr("num_heads"));
  EXPECT_THAT(with_config({{"num_heads", 5}}), HasSubstr("multiple"));
  EXPECT_THAT(with_config({{"qk_norm", "l3"}}), HasSubstr("'l3'"));
  EXPECT_THAT(refusal([&] { load_model(in("missing")); }), HasSubstr("missing"));
  write_file(in("a") + "/config.json", "{");
  EXPECT_THAT(refusal([&] { load_model(in("a")); }), HasSubstr("JSON"));
}

TEST_F(Checkpoint, AFailedWriteLeavesNothing) {
  const Model model(ModelConfig(small()), {.seed = 3});
  write_file(in("file"), "x");
  EXPECT_NE(refusal([&] { save_model(model, in("file") + "/below"); }), "nothing was refused");
  EXPECT_NE(refusal([&] { save_model(model, in("file")); }), "nothing was refused");
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    left.push_back(entry.path().filename());
  EXPECT_EQ(left, std::vector<std::string>{"file"});
}

// Two models whose weights have the same names and shapes.
class TwoModels : public Checkpoint {
 protected:
  Model first_{ModelConfig(small({{"allow_neg_eigval", false}})), {.seed = 1}};
  Model second_{ModelConfig(small({{"allow_neg_eigval", true}})), {.seed = 2}};

  // Which of the two a directory has.
  int found(const std::string& directory) const {
    const Model model = load_model(directory);
    const bool second = model.config().json().value("allow_neg_eigval", false);
    expect_equal(model, second ? second_ : first_);
    return second ? 2 : 1;
  }
  // In a process of its own that may write `most` bytes to a file.
  static int save_with_room_for(rlim_t most, const Model& model, const std::string& directory,
                                const SaveOptions& options) {
    return WEXITSTATUS(wait_for(fork_child([&] {
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{most, most};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      try {
        save_model(model, directory, options);
      } catch (const Error&) {
        return 1;
      }
      return 0;
    })));
  }
};

TEST_F(TwoModels, AFullDiskLeavesTheModelThatWasThere) {
  for (const std::uint64_t shard : {std::uint64_t{1} << 40, std::uint64_t{3000}}) {
    save_model(first_, in("a"), {.max_shard_bytes = shard});
    write_file(in("a") + "/notes.txt", "mine");
    for (const rlim_t room : {100, 500, 2000}) {
      EXPECT_EQ(save_with_room_for(room, second_, in("a"), {.max_shard_bytes = shard}), 1);
      EXPECT_EQ(found(in("a")), 1) << room;
    }
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"a"});
    save_model(second_, in("a"), {.max_shard_bytes = shard});
    EXPECT_EQ(found(in("a")), 2);
    EXPECT_EQ(read_file(in("a") + "/notes.txt"), "mine");
    save_model(first_, in("a"), {.max_shard_bytes = shard});
  }
}

TEST_F(TwoModels, KilledAtAnyMomentAnOverwriteLeavesOneOfThem) {
  for (const std::uint64_t shard : {std::uint64_t{1} << 40, std::uint64_t{3000}}) {
    save_model(first_, in("a"), {.max_shard_bytes = shard});
    for (int i = 0; i < 30; ++i) {
      const pid_t child = fork_child([&] {
        for (;;) {
          save_model(second_, in("a"), {.max_shard_bytes = shard});
          save_model(first_, in("a"), {.max_shard_bytes = shard});
        }
        return 0;
      });
      std::this_thread::sleep_for(std::chrono::microseconds(2000 + 613 * i));
      ::kill(child, SIGKILL);
      wait_for(child);
      ASSERT_NO_THROW(found(in("a"))) << i;
    }
  }
}

TEST_F(TwoModels, AMixtureOfThemIsRefused) {
  for (const std::uint64_t shard : {std::uint64_t{1} << 40, std::uint64_t{3000}}) {
    save_model(first_, in("a"), {.max_shard_bytes = shard});
    save_model(second_, in("b"), {.max_shard_bytes = shard});
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(in("a")))
      names.push_back(entry.path().filename());
    EXPECT_EQ(names.size() > 2, shard == 3000);
    for (const std::string& name : names) {
      fs::remove_all(in("c"));
      fs::copy(in("a"), in("c"));
      EXPECT_EQ(found(in("c")), 1);
      fs::copy_file(in("b") + "/" + name, in("c") + "/" + name,
                    fs::copy_options::overwrite_existing);
      EXPECT_THAT(refusal([&] { load_model(in("c")); }), HasSubstr("another model")) << name;
    }
    fs::remove_all(in("a"));
    fs::remove_all(in("b"));
  }
}

TEST_F(TwoModels, FilesOfOthersHaveNoIdentityAndAreRead) {
  save_model(first_, in("a"));
  Json config = Json::parse(read_file(in("a") + "/config.json"));
  config.erase("shellgame_identity");
  write_file(in("a") + "/config.json", config.dump());
  EXPECT_EQ(found(in("a")), 1);
}

TEST(Config, WhatCannotBeDoneIsRefusedByName) {
  const auto refused = [](Json changes) {
    return refusal([&] { Model{ModelConfig(small(changes))}; });
  };
  EXPECT_THAT(refused({{"attnres_block_size", 4}}), HasSubstr("attnres_block_size"));
  EXPECT_THAT(refused({{"hidden_act", "powlu"}}), HasSubstr("powlu"));
  EXPECT_THAT(refused({{"model_type", "kda"}, {"head_dim", 8}, {"safe_gate", true}}),
              HasSubstr("safe_gate"));
}

TEST(Config, TheChannelMixersWidthFollowsFla) {
  // (hidden_size, intermediate_size) as flash-linear-attention computes it.
  for (const auto& [width, inner] :
       {std::pair{64, 256}, {128, 512}, {256, 768}, {512, 1536}, {1024, 2816}, {2048, 5632}}) {
    const ModelConfig config(
        {{"model_type", "delta_net"}, {"hidden_size", width}, {"num_heads", 4}});
    EXPECT_EQ(config.spec().channel_options.size("intermediate_size"), inner);
  }
}

TEST(Config, UnknownKeysAreKept) {
  const ModelConfig config(small({{"attention_bias", false}}));
  EXPECT_EQ(config.json().at("attention_bias"), false);
}

}  // namespace
}  // namespace shellgame
