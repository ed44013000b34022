// Models against what flash-linear-attention and transformers computed: logits, loss and the
// gradient of every parameter (tests/data/models, whose README says how they were made).
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "shellgame/models/checkpoint.h"
#include "shellgame/ops/engine.h"
#include "shellgame/system/files.h"
#include "shellgame/tensors/npy.h"

namespace shellgame {
namespace {

const std::string kModels = SHELLGAME_TEST_DATA "/models/";

std::vector<std::string> fixture_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kModels)) {
    if (std::filesystem::exists(entry.path() / "logits.npy"))
      names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

at::Tensor read_ids(const std::string& path) {
  const auto rows = nlohmann::json::parse(read_file(path)).get<std::vector<std::vector<int64_t>>>();
  at::Tensor ids = at::empty(
      {static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows.front().size())}, at::kLong);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::copy(rows[i].begin(), rows[i].end(), ids[static_cast<int64_t>(i)].data_ptr<int64_t>());
  }
  return ids;
}

at::Tensor read_npy(const std::string& path) {
  const NpyFile file(path);
  const std::vector<float> values = file.floats();
  return at::from_blob(const_cast<float*>(values.data()), file.shape(), at::kFloat).clone();
}

struct Tolerance {
  double logits = 1e-4, gradients = 1e-4;
};

Tolerance tolerance_of(const std::string& name) {
  // Its chunk form (gradients) is 2e-4 from its recurrent form (logits).
  if (name.starts_with("rwkv7")) return {.logits = 5e-4, .gradients = 1e-3};
  return {};
}

class Fixture : public testing::TestWithParam<std::tuple<std::string, Engine>> {
 protected:
  void SetUp() override { use_threads(2); }
  std::string directory_ = kModels + std::get<0>(GetParam());
  EngineScope engine_{std::get<1>(GetParam())};
  Tolerance tolerance_ = tolerance_of(std::get<0>(GetParam()));
};

TEST_P(Fixture, LogitsAreTheReferences) {
  const Model model = load_model(directory_);
  const at::Tensor logits = model.logits(read_ids(directory_ + "/ids.json"));
  const at::Tensor reference = read_npy(directory_ + "/logits.npy");
  ASSERT_EQ(logits.sizes(), reference.sizes());
  EXPECT_LT((logits - reference).abs().max().item<double>(), tolerance_.logits);
}

TEST_P(Fixture, LossAndGradientsAreTheReferences) {
  if (!std::filesystem::exists(directory_ + "/grads.safetensors")) GTEST_SKIP();
  const Model model = load_model(directory_);
  const at::Tensor ids = read_ids(directory_ + "/ids.json");
  at::Tensor targets = at::full_like(ids, -1);
  targets.narrow(1, 0, ids.size(1) - 1).copy_(ids.narrow(1, 1, ids.size(1) - 1));
  // The pull of use_l2warp is part of training, not of this loss.
  const at::Tensor loss =
      model.config().spec().l2_warp
          ? at::cross_entropy_loss(model.logits(ids).narrow(1, 0, ids.size(1) - 1).flatten(0, 1),
                                   targets.narrow(1, 0, ids.size(1) - 1).flatten())
          : model.loss(ids, targets).mean;
  const auto record = nlohmann::json::parse(read_file(directory_ + "/loss.json"));
  EXPECT_NEAR(loss.item<double>(), record.at("loss").get<double>(), tolerance_.logits);
  std::vector<at::Tensor> parameters;
  for (const Parameter& parameter : model.parameters()) parameters.push_back(parameter.value);
  const auto gradients = torch::autograd::grad({loss}, parameters, {}, false, false, true);
  const SafetensorsFile file(directory_ + "/grads.safetensors");
  std::size_t compared = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string& name = model.parameters()[i].name;
    if (file.find(name) == nullptr) continue;
    std::vector<float> values = file.floats(name);
    const at::Tensor reference = at::from_blob(values.data(), parameters[i].sizes(), at::kFloat);
    ASSERT_TRUE(gradients[i].defined()) << name;
    const double scale = reference.square().mean().sqrt().item<double>();
    const double error = (gradients[i] - reference).square().mean().sqrt().item<double>();
    EXPECT_LT(error / (scale + 1e-8), tolerance_.gradients) << name << ", rms " << scale;
    ++compared;
  }
  EXPECT_EQ(compared, file.tensors().size());
}

INSTANTIATE_TEST_SUITE_P(Models, Fixture,
                         testing::Combine(testing::ValuesIn(fixture_names()),
                                          testing::Values(Engine::kKernels, Engine::kComposed)),
                         [](const auto& test) {
                           std::string name = std::get<0>(test.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name + (std::get<1>(test.param) == Engine::kKernels
                                              ? "_kernels"
                                              : "_composed");
                         });

}  // namespace
}  // namespace shellgame
