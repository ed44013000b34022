#include "shellgame/tensors/tensor_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "shellgame/system/files.h"
#include "shellgame/tensors/tensor_index.h"
#include "tests/system/scratch.h"
#include "tests/tensors/sentence_of.h"

namespace shellgame {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<float> kNumbers = {0, 1, 2, 3, 4, 5, 6, 7};

std::vector<TensorSource> sources(std::initializer_list<std::pair<const char*, int>> sizes) {
  std::vector<TensorSource> all;
  for (const auto& [name, size] : sizes)
    all.push_back({name, Dtype::kF32, {size}, kNumbers.data(), {}});
  return all;
}

std::vector<std::string> files_in(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

TEST(TensorDirectory, OneFileOrSeveralHoldTheSameTensors) {
  const ScratchFolder scratch;
  const auto all = sources({{"c", 8}, {"a", 3}, {"b", 1}, {"empty", 0}, {"d", 2}});
  for (const std::uint64_t most : {1'000u, 32u, 16u, 0u}) {
    write_tensor_directory(scratch / "model", all, most);
    const auto directory = TensorDirectory::open(scratch / "model");
    std::vector<std::string> names;
    for (const StoredTensor* tensor : directory.tensors()) names.push_back(tensor->name);
    EXPECT_THAT(names, ElementsAre("a", "b", "c", "d", "empty"));
    for (const TensorSource& source : all) {
      std::vector<float> values(*element_count(source.shape));
      directory.read(source.name, source.shape, Dtype::kF32, values.data());
      EXPECT_TRUE(std::equal(values.begin(), values.end(), kNumbers.begin()));
    }
    // No file of the checkpoint before is left.
    if (most == 1'000u) {
      EXPECT_THAT(files_in(scratch / "model"), ElementsAre("model.safetensors"));
    } else if (most == 32u) {
      EXPECT_THAT(files_in(scratch / "model"),
                  ElementsAre("model-00001-of-00002.safetensors",
                              "model-00002-of-00002.safetensors", "model.safetensors.index.json"));
    } else if (most == 0u) {
      EXPECT_EQ(directory.files().size(), 5u);
    }
  }
  write_tensor_directory(scratch / "model", all);
  EXPECT_THAT(files_in(scratch / "model"), ElementsAre("model.safetensors"));
  EXPECT_EQ(TensorDirectory::open(scratch / "model/model.safetensors").tensors().size(), 5u);
}

TEST(TensorDirectory, OtherFilesOfTheDirectoryAreLeftAlone) {
  const ScratchFolder scratch;
  for (const char* name : {"config.json", "model-old.safetensors", "optimizer.safetensors"})
    write_file(scratch / name, "x");
  write_tensor_directory(scratch.path(), sources({{"a", 1}, {"b", 1}}), 4);
  EXPECT_EQ(files_in(scratch.path()).size(), 6u);
}

TEST(TensorDirectory, ShardsAreFilledInOrderUpToTheirLimit) {
  const auto cut = [](std::initializer_list<std::pair<const char*, int>> sizes,
                      std::uint64_t most) {
    std::vector<std::size_t> counts;
    for (const auto& shard : cut_into_shards(sources(sizes), most)) counts.push_back(shard.size());
    return counts;
  };
  EXPECT_THAT(cut({}, 10), ElementsAre(0));
  EXPECT_THAT(cut({{"a", 1}, {"b", 1}, {"c", 1}}, 8), ElementsAre(2, 1));
  EXPECT_THAT(cut({{"a", 8}, {"b", 1}, {"c", 1}}, 8), ElementsAre(1, 2));
  EXPECT_THAT(cut({{"a", 1}, {"b", 8}, {"c", 1}}, 8), ElementsAre(1, 1, 1));
  EXPECT_THAT(cut({{"a", 2}, {"b", 2}}, UINT64_MAX), ElementsAre(2));
}

// As json.dumps(index, indent=2, sort_keys=True) of Python gives it.
TEST(TensorDirectory, TheIndexIsWrittenAsHuggingFaceWritesIt) {
  const TensorIndex index = {{{"b", "model-00002-of-00002.safetensors"},
                              {"a\xc3\xa9", "model-00001-of-00002.safetensors"}},
                             24};
  const std::string text =
      "{\n  \"metadata\": {\n    \"total_size\": 24\n  },\n  \"weight_map\": {\n"
      "    \"a\\u00e9\": \"model-00001-of-00002.safetensors\",\n"
      "    \"b\": \"model-00002-of-00002.safetensors\"\n  }\n}\n";
  EXPECT_EQ(write_tensor_index(index), text);
  EXPECT_EQ(parse_tensor_index(text, "i"), index);
}

TEST(TensorDirectory, WrongIndicesAreRefusedWithASentence) {
  const auto sentence = [](const std::string& json) {
    return sentence_of("", [&] { parse_tensor_index(json, "i"); });
  };
  const auto file = [&](const std::string& name) {
    return sentence(R"({"weight_map":{"x":")" + name + R"("}})");
  };
  const auto not_plain = [](const std::string& name) {
    return "i: the file of tensor 'x' must be a plain name that ends in .safetensors, not '" +
           name + "'";
  };
  EXPECT_EQ(file("a.safetensors"), "no error");
  for (const std::string name : {"../a.safetensors", "/etc/a.safetensors", "b/a.safetensors", "..",
                                 ".safetensors", "a.bin", ""})
    EXPECT_EQ(file(name), not_plain(name));
  EXPECT_EQ(file("b\\\\a.safetensors"), not_plain("b\\a.safetensors"));
  EXPECT_EQ(file("a\\u0000.safetensors"), not_plain("a?.safetensors"));
  const std::string map =
      "i: 'weight_map' must be an object that gives each tensor's name the name of its file";
  EXPECT_EQ(sentence(R"({"weight_map":{"x":1}})"), map);
  EXPECT_EQ(sentence(R"({"weight_map":{"x":null}})"), map);
  EXPECT_EQ(sentence(R"({"weight_map":{"x":{"y":"a.safetensors"}}})"), map);
  EXPECT_EQ(sentence(R"({"weight_map":["a.safetensors"]})"), map);
  EXPECT_EQ(sentence(R"({"weight_map":"a.safetensors"})"), map);
  EXPECT_EQ(sentence(R"({"weight_map":{"x":"a.safetensors","x":"b.safetensors"}})"),
            "i: the index must name each key once, but has 'x' twice");
  EXPECT_EQ(sentence(R"({"metadata":{}})"), "i: the index must have a 'weight_map'");
  EXPECT_EQ(sentence(R"([])"), "i: the index must be a JSON object");
  EXPECT_EQ(sentence(R"("x")"), "i: the index must be a JSON object");
  EXPECT_EQ(sentence(R"({"weight_map":{}} x)"),
            "i: the index must be valid JSON in UTF-8, but is not from byte 18 on");
  EXPECT_EQ(sentence(R"({"metadata":)" + std::string(100'000, '[')),
            "i: the index must be nested at most 16 deep");
  // What is beside the map is of no interest: some tools write total_size as a fraction.
  EXPECT_EQ(sentence(R"({"metadata":{"total_size":1.5e9,"x":[{"y":[1]}]},"weight_map":{},"z":1})"),
            "no error");
}

TEST(TensorDirectory, FilesThatDoNotFitTheIndexAreRefused) {
  const ScratchFolder scratch;
  const auto sentence = [&] {
    return sentence_of(scratch.path(), [&] { TensorDirectory::open(scratch.path()); });
  };
  const auto index = [&](const std::string& map) {
    write_file(scratch / kIndexFile, "{\"weight_map\":{" + map + "}}");
  };
  EXPECT_THAT(sentence(), HasSubstr("must hold model.safetensors or model.safetensors.index.json"));
  index(R"("a":"1.safetensors","b":"2.safetensors")");
  EXPECT_EQ(sentence(),
            "model.safetensors.index.json: the file '1.safetensors', which has tensor "
            "'a', must stand beside the index");
  write_safetensors(scratch / "1.safetensors", sources({{"a", 1}}));
  write_safetensors(scratch / "2.safetensors", sources({{"b", 1}}));
  EXPECT_EQ(sentence(), "no error");
  index(R"("a":"2.safetensors","b":"1.safetensors")");
  EXPECT_EQ(sentence(),
            "2.safetensors: tensor 'b' must be in the file that the index names, "
            "'1.safetensors'");
  index(R"("a":"1.safetensors","b":"2.safetensors","c":"2.safetensors")");
  EXPECT_EQ(sentence(),
            "2.safetensors: the file must hold the tensor 'c', which the index says is there");
  index(R"("a":"1.safetensors","b":"2.safetensors")");
  write_safetensors(scratch / "2.safetensors", sources({{"b", 1}, {"c", 1}}));
  EXPECT_EQ(sentence(),
            "2.safetensors: tensor 'c' must be in the file that the index names, but it "
            "names none");
  write_safetensors(scratch / "2.safetensors", sources({{"b", 1}, {"a", 1}}));
  EXPECT_EQ(sentence(),
            "2.safetensors: tensor 'a' must be in the file that the index names, "
            "'1.safetensors'");
  write_file(scratch / "2.safetensors", "x");
  EXPECT_THAT(sentence(), HasSubstr("2.safetensors: a safetensors file must begin with 8 bytes"));
}

TEST(TensorDirectory, MissingTensorsAndOtherShapesAreNamed) {
  const auto directory = TensorDirectory::open(SHELLGAME_TEST_DATA "/models/delta_net");
  const std::string name = "model.embeddings.weight";
  ASSERT_NE(directory.find(name), nullptr);
  const Shape shape = directory.at(name).shape;
  std::vector<float> values(*element_count(shape));
  directory.read(name, shape, Dtype::kF32, values.data());
  EXPECT_EQ(values, directory.floats(name));
  EXPECT_EQ(directory.find("x"), nullptr);
  const std::string where = SHELLGAME_TEST_DATA "/models/delta_net";
  EXPECT_THAT(sentence_of(where, [&] { directory.at("x"); }),
              HasSubstr("the checkpoint must hold the tensor 'x'"));
  EXPECT_EQ(sentence_of(where, [&] { directory.read(name, Shape{1}, Dtype::kF32, values.data()); }),
            "model.safetensors: tensor 'model.embeddings.weight' must have the shape [1], not [48, "
            "32]");
}

}  // namespace
}  // namespace shellgame
