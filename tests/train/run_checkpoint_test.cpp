#include "shellgame/train/run_checkpoint.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "../system/scratch.h"
#include "shellgame/system/files.h"

namespace shellgame {
namespace {

Model small_model(std::uint64_t seed) {
  return Model(ModelConfig({{"model_type", "delta_net"},
                            {"hidden_size", 16},
                            {"num_hidden_layers", 1},
                            {"num_heads", 2},
                            {"vocab_size", 11}}),
               {.seed = seed});
}

RunCheckpoint at_step(std::int64_t step) {
  return {.step = step,
          .place = {{"stage", 1}, {"tokens", 12}},
          .tensors = {{"a", at::arange(6).view({2, 3}).to(at::kFloat) / 7},
                      {"position", at::full({}, 12, at::kLong)},
                      {"wide", at::full({2}, 0.1, at::kDouble)}}};
}

bool same_weights(const Model& a, const Model& b) {
  for (std::size_t i = 0; i < a.parameters().size(); ++i) {
    if (!at::equal(a.parameters()[i].value, b.parameters()[i].value)) return false;
  }
  return true;
}

void damage(const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(-3, std::ios::end);
  const char byte = static_cast<char>(file.peek() ^ 1);
  file.seekp(-3, std::ios::end);
  file.put(byte);
}

TEST(RunCheckpoint, ComesBackBitForBit) {
  const ScratchFolder folder;
  const Model model = small_model(1), other = small_model(2);
  write_checkpoint(folder.path(), at_step(12), model, {}, 2);
  const auto read = read_newest_checkpoint(folder.path(), other, [](const auto&) { FAIL(); });
  ASSERT_TRUE(read);
  EXPECT_EQ(read->step, 12);
  EXPECT_EQ(read->place, at_step(12).place);
  for (const auto& [name, tensor] : at_step(12).tensors) {
    EXPECT_EQ(read->tensors.at(name).scalar_type(), tensor.scalar_type());
    EXPECT_TRUE(at::equal(read->tensors.at(name), tensor)) << name;
  }
  EXPECT_TRUE(same_weights(model, other));
}

TEST(RunCheckpoint, OnlyTheLastOnesAreKept) {
  const ScratchFolder folder;
  for (const std::int64_t step : {1, 5, 20, 100})
    write_checkpoint(folder.path(), at_step(step), small_model(1), {}, 2);
  EXPECT_EQ(checkpoint_steps(folder.path()), (std::vector<std::int64_t>{100, 20}));
  EXPECT_EQ(folder.names().size(), 2u);
}

TEST(RunCheckpoint, ADamagedOneIsPassedOverWhateverFileIsDamaged) {
  for (const char* name :
       {"model.safetensors", "trainer.safetensors", "trainer.json", "config.json"}) {
    const ScratchFolder folder;
    const Model good = small_model(1), other = small_model(3);
    write_checkpoint(folder.path(), at_step(5), good, {}, 3);
    write_checkpoint(folder.path(), at_step(7), small_model(2), {}, 3);
    damage(checkpoint_path(folder.path(), 7) + "/" + name);
    std::vector<std::string> said;
    const auto read = read_newest_checkpoint(
        folder.path(), other, [&](const std::string& sentence) { said.push_back(sentence); });
    ASSERT_TRUE(read) << name;
    EXPECT_EQ(read->step, 5);
    EXPECT_TRUE(same_weights(good, other));
    ASSERT_EQ(said.size(), 1u);
    EXPECT_THAT(said[0], testing::HasSubstr("step-00000007' is damaged"));
  }
}

TEST(RunCheckpoint, DamagedOnesDoNotCountAmongThoseThatAreKept) {
  const ScratchFolder folder;
  const Model good = small_model(1), other = small_model(3);
  for (const std::int64_t step : {10, 20, 30, 40, 50})
    write_checkpoint(folder.path(), at_step(step), good, {}, 9);
  for (const std::int64_t step : {30, 40, 50})
    damage(checkpoint_path(folder.path(), step) + "/trainer.safetensors");
  write_checkpoint(folder.path(), at_step(25), good, {}, 3);
  EXPECT_EQ(checkpoint_steps(folder.path()), (std::vector<std::int64_t>{50, 40, 30, 25, 20, 10}));
  const auto read = read_newest_checkpoint(folder.path(), other, [](const auto&) {});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->step, 25);
  write_checkpoint(folder.path(), at_step(60), good, {}, 2);
  // Those before the last two whole ones go, whole or not.
  EXPECT_EQ(checkpoint_steps(folder.path()), (std::vector<std::int64_t>{60, 50, 40, 30, 25}));
}

// A step's checkpoint is written again after an interruption at that step.
TEST(RunCheckpoint, WrittenAgainTheOldOneStaysUntilTheNewOneIsThere) {
  const ScratchFolder folder;
  const Model model = small_model(1);
  write_checkpoint(folder.path(), at_step(7), model, {}, 2);
  const std::string record = checkpoint_path(folder.path(), 7) + "/trainer.json";
  std::atomic<bool> done = false;
  std::int64_t looks = 0, missing = 0;
  std::thread watcher([&] {
    for (; !done; ++looks) missing += ::access(record.c_str(), F_OK) != 0;
  });
  for (int i = 0; i < 40; ++i) write_checkpoint(folder.path(), at_step(7), model, {}, 2);
  done = true;
  watcher.join();
  EXPECT_EQ(missing, 0) << "of " << looks;
  EXPECT_EQ(folder.names(), std::vector<std::string>{"step-00000007"});
}

TEST(RunCheckpoint, WhatIsMissingOrHalfWrittenIsPassedOver) {
  const ScratchFolder folder;
  const Model model = small_model(1);
  EXPECT_FALSE(read_newest_checkpoint(folder / "none", model, [](const auto&) {}));
  std::filesystem::create_directories(folder / "step-00000009");
  std::filesystem::create_directories(folder / ".partial");
  EXPECT_FALSE(read_newest_checkpoint(folder.path(), model, [](const auto&) {}));
  write_checkpoint(folder.path(), at_step(9), model, {}, 2);  // takes the place of the empty one
  EXPECT_TRUE(read_newest_checkpoint(folder.path(), model, [](const auto&) { FAIL(); }));
}

}  // namespace
}  // namespace shellgame
