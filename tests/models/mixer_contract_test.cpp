// The contract that every mixer keeps, on small models of each (contract_cases.cpp).
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <map>
#include <set>

#include "contract_cases.h"
#include "shellgame/models/model.h"
#include "shellgame/ops/engine.h"
#include "shellgame/train/state_rows.h"
#include "tests/ops/rms_ratio.h"

namespace shellgame {
namespace {

constexpr std::int64_t kBatch = 3;
constexpr double kTolerance = 1e-5;

at::Tensor drawn_ids(std::int64_t time, std::int64_t vocabulary, std::uint64_t seed = 5) {
  at::Tensor ids = at::empty({kBatch, time}, at::kLong);
  RandomStream numbers(seed, 0);
  for (std::int64_t i = 0; i < ids.numel(); ++i) {
    ids.data_ptr<std::int64_t>()[i] = numbers.below(static_cast<std::uint32_t>(vocabulary));
  }
  return ids;
}

class MixerContract : public testing::TestWithParam<ContractCase> {
 protected:
  void SetUp() override { use_threads(2); }

  Model model_{ModelConfig(GetParam().config), {.seed = 7}};
  std::int64_t vocabulary_ = model_.config().spec().vocabulary;

  std::vector<at::Tensor> gradients(const at::Tensor& sum) {
    std::vector<at::Tensor> parameters;
    for (const Parameter& parameter : model_.parameters()) parameters.push_back(parameter.value);
    return torch::autograd::grad({sum}, parameters, {}, true, false, /*allow_unused=*/true);
  }
};

TEST_P(MixerContract, StepsEqualTheParallelForm) {
  const at::Tensor ids = drawn_ids(70, vocabulary_);
  const at::Tensor parallel = model_.logits(ids);
  ModelState state;
  std::vector<at::Tensor> steps;
  for (std::int64_t t = 0; t < ids.size(1); ++t) {
    steps.push_back(model_.step(ids.select(1, t), state));
  }
  EXPECT_LT(rms_ratio(at::stack(steps, 1), parallel), kTolerance);
  EXPECT_EQ(state.tokens, 70);
}

TEST_P(MixerContract, SegmentsWithStateEqualTheWhole) {
  const at::Tensor ids = drawn_ids(97, vocabulary_);
  const at::Tensor whole = model_.logits(ids);
  ModelState state;
  std::vector<at::Tensor> parts;
  for (const auto& [from, size] : {std::pair{0, 1}, {1, 2}, {3, 64}, {67, 30}}) {
    parts.push_back(model_.logits(ids.narrow(1, from, size), &state));
  }
  EXPECT_LT(rms_ratio(at::cat(parts, 1), whole), kTolerance);
}

TEST_P(MixerContract, MemoryIsConstantWhereItIsPromised) {
  ModelState state;
  const at::Tensor ids = drawn_ids(40, vocabulary_);
  model_.logits(ids, &state);
  const std::int64_t bytes = state.bytes();
  model_.logits(ids, &state);
  if (model_.constant_memory()) {
    EXPECT_EQ(state.bytes(), bytes);
  } else {
    EXPECT_GT(state.bytes(), bytes);
  }
}

// A state may be kept for each piece of a long row: a view of an activation would keep that whole.
TEST_P(MixerContract, WhatIsRememberedHoldsNoActivations) {
  const auto held = [&](std::int64_t time) {
    const at::NoGradGuard no_gradients;
    ModelState state;
    model_.logits(drawn_ids(time, vocabulary_), &state);
    std::map<std::string, std::size_t> bytes;
    for (std::size_t layer = 0; layer < state.layers.size(); ++layer) {
      for (const PartState* part : {&state.layers[layer].mixer, &state.layers[layer].channel_mixer})
        for (const auto& [name, tensor] : *part)
          bytes[std::to_string(layer) + "." + name] = tensor.storage().nbytes();
    }
    return bytes;
  };
  const auto few = held(100), many = held(400);
  std::set<std::string> grows;
  for (std::size_t layer = 0; layer < model_.layers(); ++layer) {
    for (const Remembered& one : model_.declaration(layer).remembers) {
      if (one.kind == Remembered::Kind::kTokens && one.most == 0)
        grows.insert(std::to_string(layer) + "." + one.name);
    }
  }
  for (const auto& [name, bytes] : many) {
    if (grows.contains(name)) {
      // Every token, once.
      EXPECT_LE(bytes, 4 * few.at(name)) << name;
    } else {
      EXPECT_EQ(bytes, few.at(name)) << name;
    }
  }
}

TEST_P(MixerContract, ALaterTokenChangesNothingBefore) {
  const at::Tensor ids = drawn_ids(50, vocabulary_);
  at::Tensor other = ids.clone();
  other.select(1, 30).copy_((other.select(1, 30) + 1).remainder(vocabulary_));
  const at::Tensor a = model_.logits(ids), b = model_.logits(other);
  EXPECT_EQ((a.narrow(1, 0, 30) - b.narrow(1, 0, 30)).abs().max().item<float>(), 0);
  EXPECT_GT((a.narrow(1, 30, 20) - b.narrow(1, 30, 20)).abs().max().item<float>(), 1e-4);
}

TEST_P(MixerContract, SequencesOfABatchDoNotMeet) {
  const at::Tensor ids = drawn_ids(33, vocabulary_);
  const at::Tensor all = model_.logits(ids);
  const at::Tensor turned = model_.logits(ids.flip(0)).flip(0);
  EXPECT_LT(rms_ratio(turned, all), kTolerance);
  EXPECT_LT(rms_ratio(model_.logits(ids.narrow(0, 1, 1)), all.narrow(0, 1, 1)), kTolerance);
}

TEST_P(MixerContract, GradientsFlowThroughTheState) {
  const at::Tensor ids = drawn_ids(20, vocabulary_);
  ModelState state;
  model_.logits(ids, &state);
  std::vector<at::Tensor> inner;
  for (LayerState& layer : state.layers) {
    for (auto& [name, tensor] : layer.mixer) {
      if (tensor.is_floating_point()) inner.push_back(tensor);
    }
  }
  ASSERT_FALSE(inner.empty());
  // Out of the final state into the parameters, and from later logits into the state.
  const at::Tensor later = model_.logits(ids, &state).square().sum();
  for (const at::Tensor& gradient : torch::autograd::grad({later}, inner, {}, true, false, true)) {
    ASSERT_TRUE(gradient.defined());
    EXPECT_TRUE(gradient.isfinite().all().item<bool>());
    EXPECT_GT(gradient.abs().max().item<float>(), 0);
  }
}

TEST_P(MixerContract, GradientsInSegmentsEqualThoseOfTheWhole) {
  const at::Tensor ids = drawn_ids(45, vocabulary_);
  const auto whole = gradients(model_.logits(ids).square().mean());
  ModelState state;
  const at::Tensor first = model_.logits(ids.narrow(1, 0, 17), &state);
  const at::Tensor second = model_.logits(ids.narrow(1, 17, 28), &state);
  const auto parts = gradients(at::cat({first, second}, 1).square().mean());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    ASSERT_TRUE(whole[i].defined()) << model_.parameters()[i].name;
    EXPECT_LT(rms_ratio(parts[i], whole[i]), 1e-4) << model_.parameters()[i].name;
  }
}

TEST_P(MixerContract, GradientsAreFiniteAtTheEdges) {
  for (const std::int64_t time : {1, 2, 63, 64, 65}) {
    at::Tensor ids = drawn_ids(time, vocabulary_);
    ids.select(0, 0).fill_(3);  // repeated keys
    const auto all = gradients(model_.logits(ids).square().mean());
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].defined()) continue;
      EXPECT_TRUE(all[i].isfinite().all().item<bool>()) << model_.parameters()[i].name;
      sum += all[i].abs().sum().item<double>();
    }
    EXPECT_GT(sum, 0);
  }
}

// A write strength of exactly 0, 1 and 2: nothing, a projection, a reflection.
TEST_P(MixerContract, GradientsAreFiniteAtExactBetas) {
  const at::Tensor ids = drawn_ids(30, vocabulary_);
  for (const double beta : {0.0, 1.0, 2.0}) {
    Taps taps;
    int calls = 0;
    taps.wanted = [](const TapPoint& point) { return point.name == "beta"; };
    taps.call = [&](const TapPoint&, const at::Tensor& value) {
      ++calls;
      return value * 0 + beta;
    };
    const at::Tensor logits = model_.logits(ids, nullptr, &taps);
    if (calls == 0) return;  // a mixer without one
    EXPECT_TRUE(logits.isfinite().all().item<bool>());
    for (const at::Tensor& gradient : gradients(logits.square().mean())) {
      if (!gradient.defined()) continue;
      EXPECT_TRUE(gradient.isfinite().all().item<bool>());
    }
  }
}

TEST_P(MixerContract, KernelsEqualTheComposedForm) {
  const at::Tensor ids = drawn_ids(77, vocabulary_);
  const at::Tensor fast = model_.logits(ids);
  const auto fast_gradients = gradients(fast.square().mean());
  const EngineScope composed(Engine::kComposed);
  const at::Tensor plain = model_.logits(ids);
  const auto plain_gradients = gradients(plain.square().mean());
  EXPECT_LT(rms_ratio(fast, plain), kTolerance);
  for (std::size_t i = 0; i < fast_gradients.size(); ++i) {
    EXPECT_LT(rms_ratio(fast_gradients[i], plain_gradients[i]), 1e-4)
        << model_.parameters()[i].name;
  }
}

TEST_P(MixerContract, DoubleAgreesWithFloat) {
  const at::Tensor ids = drawn_ids(40, vocabulary_);
  const at::Tensor single = model_.logits(ids);
  model_.to(at::kDouble);
  const at::Tensor twice = model_.logits(ids);
  EXPECT_EQ(twice.scalar_type(), at::kDouble);
  EXPECT_LT(rms_ratio(single, twice), kTolerance);
}

TEST_P(MixerContract, TheSameBitsAgain) {
  const at::Tensor ids = drawn_ids(80, vocabulary_);
  const at::Tensor first = model_.logits(ids);
  const auto first_gradients = gradients(first.square().mean());
  const at::Tensor second = model_.logits(ids);
  const auto second_gradients = gradients(second.square().mean());
  EXPECT_TRUE(first.equal(second));
  for (std::size_t i = 0; i < first_gradients.size(); ++i) {
    EXPECT_TRUE(first_gradients[i].equal(second_gradients[i])) << model_.parameters()[i].name;
  }
}

TEST_P(MixerContract, AWeightThatIsNaNGivesNoNumbers) {
  const at::NoGradGuard no_gradients;
  const at::Tensor ids = drawn_ids(10, vocabulary_);
  for (const Parameter& parameter : model_.parameters()) {
    const at::Tensor value = parameter.value.detach(), kept = value.clone();
    value.fill_(NAN);
    const at::Tensor last = model_.logits(ids).select(1, ids.size(1) - 1);
    EXPECT_FALSE(last.isfinite().any().item<bool>()) << parameter.name;
    value.copy_(kept);
  }
}

// Every tap that the mixer names: it is called, reading it changes nothing, replacing it does.
TEST_P(MixerContract, TapsReadAndReplace) {
  const at::Tensor ids = drawn_ids(12, vocabulary_);
  const at::Tensor plain = model_.logits(ids);
  std::set<std::string> names;
  for (const LayerSpec& layer : model_.config().spec().layers) {
    for (const std::string& name : find_mixer(layer.mixer).taps) names.insert(name);
  }
  ASSERT_FALSE(names.empty());
  for (const std::string& name : names) {
    int calls = 0;
    Taps taps;
    taps.wanted = [&](const TapPoint& point) { return point.name == name; };
    taps.call = [&](const TapPoint& point, const at::Tensor& value) {
      EXPECT_GE(point.layer, 0);
      ++calls;
      return value;
    };
    EXPECT_LT(rms_ratio(model_.logits(ids, nullptr, &taps), plain), kTolerance) << name;
    EXPECT_GT(calls, 0) << name;
    taps.call = [&](const TapPoint& point, const at::Tensor& value) {
      return point.token < 0 || point.token == 5 ? value * 0.5 : value;
    };
    const at::Tensor changed = model_.logits(ids, nullptr, &taps);
    EXPECT_GT((changed - plain).abs().max().item<float>(), 0) << name;
  }
}

// What a mixer declares is what it leaves: every tensor by name, of the kind that it says.
TEST_P(MixerContract, TheStateIsAsDeclared) {
  const at::NoGradGuard no_gradients;
  constexpr std::int64_t kTime = 30;
  using enum Remembered::Kind;
  ModelState state, longer;
  model_.logits(drawn_ids(kTime, vocabulary_), &state);
  model_.logits(drawn_ids(2 * kTime, vocabulary_), &longer);
  for (std::size_t layer = 0; layer < model_.layers(); ++layer) {
    const MixerDeclaration declared = model_.declaration(layer);
    EXPECT_GE(declared.heads, 1);
    std::set<std::string> names, left;
    for (const auto& [name, tensor] : state.layers[layer].mixer) left.insert(name);
    for (const Remembered& one : declared.remembers) {
      EXPECT_TRUE(names.insert(one.name).second) << one.name << " is declared twice";
      ASSERT_TRUE(left.contains(one.name)) << one.name;
      const at::Tensor tensor = state.layers[layer].mixer.at(one.name);
      if (one.kind == kPosition) {
        EXPECT_EQ(tensor.dim(), 0) << one.name;
        continue;
      }
      ASSERT_GE(tensor.dim(), 2) << one.name;
      EXPECT_EQ(tensor.size(0), kBatch) << one.name;
      if (one.kind == kTokens) {
        EXPECT_EQ(tensor.size(1), one.most > 0 ? std::min(kTime, one.most) : kTime) << one.name;
        continue;
      }
      EXPECT_EQ(tensor.sizes(), longer.layers[layer].mixer.at(one.name).sizes()) << one.name;
      if (one.kind == kState && one.heads > 1) {
        EXPECT_EQ(one.heads, declared.heads) << one.name;
        EXPECT_EQ(tensor.size(1), one.heads) << one.name;
      }
      if (one.kind == kInputs) {
        EXPECT_EQ(tensor.dim(), 3) << one.name;
        EXPECT_EQ(tensor.size(1) % (one.heads * one.steps), 0) << one.name;
      }
    }
    EXPECT_EQ(names, left);
  }
}

// Streams begin rows anew by what is declared, and find no difference to an empty state.
TEST_P(MixerContract, TheDeclaredBeginningIsTheEmptyState) {
  const at::NoGradGuard no_gradients;
  const at::Tensor ids = drawn_ids(20, vocabulary_);
  if (!rows_are_apart(model_)) {
    bool any = false;
    for (std::size_t i = 0; i < model_.layers(); ++i) {
      const MixerDeclaration own = model_.declaration(i);
      any = any || own.has(Remembered::Kind::kPosition) || own.has(Remembered::Kind::kTokens);
    }
    EXPECT_TRUE(any);
    return;
  }
  ModelState state;
  model_.logits(drawn_ids(9, vocabulary_, 8), &state);
  restart_rows(model_, state, std::vector<bool>(kBatch, true));
  EXPECT_LT(rms_ratio(model_.logits(ids, &state), model_.logits(ids)), kTolerance);
}

// Taps as the declaration promises them to probes.
TEST_P(MixerContract, TapsAreCutIntoTheDeclaredHeads) {
  const at::NoGradGuard no_gradients;
  constexpr std::int64_t kTime = 6;
  std::vector<std::map<std::string, std::vector<std::int64_t>>> seen(model_.layers());
  const Taps taps{.wanted = [](const TapPoint& point) { return point.token < 0; },
                  .call =
                      [&](const TapPoint& point, const at::Tensor& x) {
                        seen[static_cast<std::size_t>(point.layer)][point.name] = x.sizes().vec();
                        return x;
                      }};
  model_.logits(drawn_ids(kTime, vocabulary_), nullptr, &taps);
  for (std::size_t layer = 0; layer < model_.layers(); ++layer) {
    const MixerDeclaration own = model_.declaration(layer);
    const auto& output = seen[layer].at("output");
    EXPECT_EQ(output[2] % own.heads, 0);
    EXPECT_TRUE(output.size() == 3 || output[2] == own.heads);
    if (!own.delta_steps) continue;
    const auto &beta = seen[layer].at("beta"), &keys = seen[layer].at("k");
    ASSERT_EQ(beta.size(), 3u);
    EXPECT_EQ(beta[2], own.heads);
    EXPECT_EQ(beta[1] % kTime, 0);
    ASSERT_EQ(keys.size(), 4u);
    EXPECT_EQ(keys[1], beta[1]);
    EXPECT_EQ(own.heads % keys[2], 0);
    if (own.decay_tap.empty()) continue;
    const auto& decay = seen[layer].at(own.decay_tap);
    EXPECT_EQ(decay[1], kTime);
    EXPECT_EQ(decay[2], own.heads);
  }
}

INSTANTIATE_TEST_SUITE_P(Mixers, MixerContract, testing::ValuesIn(contract_cases()),
                         [](const auto& test) { return test.param.name; });

// DeltaNet's training step runs in our kernels alone.
TEST(DeltaNetStep, HasTheSameBitsForAnyNumberOfThreads) {
  const Model model(ModelConfig({{"model_type", "delta_net"},
                                 {"hidden_size", 64},
                                 {"num_heads", 2},
                                 {"num_hidden_layers", 2},
                                 {"intermediate_size", 160},
                                 {"allow_neg_eigval", true},
                                 {"vocab_size", 90}}),
                    {.seed = 7});
  std::vector<at::Tensor> parameters;
  for (const Parameter& parameter : model.parameters()) parameters.push_back(parameter.value);
  const at::Tensor ids = drawn_ids(301, 90), targets = drawn_ids(301, 90, 6);
  std::vector<at::Tensor> first;
  for (const int threads : {1, 2, 3}) {
    use_threads(threads);
    const at::Tensor loss = model.loss(ids, targets).mean;
    std::vector<at::Tensor> all = torch::autograd::grad({loss}, parameters);
    all.push_back(loss.detach());
    if (first.empty()) first = all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_TRUE(all[i].equal(first[i])) << threads << " threads, " << i;
    }
  }
}

TEST(MixerContract, EveryMixerHasACase) {
  std::set<std::string> missing;
  for (const std::string& name : mixer_names()) {
    if (!name.starts_with("test_")) missing.insert(name);  // family_test registers one
  }
  for (const ContractCase& each : contract_cases()) {
    const ModelConfig config(each.config);
    for (const LayerSpec& layer : config.spec().layers) missing.erase(layer.mixer);
  }
  EXPECT_EQ(missing, std::set<std::string>());
}

}  // namespace
}  // namespace shellgame
