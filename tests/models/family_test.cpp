// Families: the model_type of config.json, and mixers that others register.
#include "shellgame/models/family.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/models/mixer.h"
#include "shellgame/models/model.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

TEST(Family, AMixerRegisteredAfterTheFirstLookIsAFamily) {
  const Family& before = find_family("shellgame_gru");
  ASSERT_THROW(find_family("shellgame_test_late"), UsageError);
  MixerEntry entry = find_mixer("gru");
  entry.name = "test_late";
  entry.defaults["cell_size"] = 12;
  register_mixer(entry);
  EXPECT_THAT(family_names(), testing::Contains("shellgame_test_late"));
  const ModelConfig config(Options::Json{{"model_type", "shellgame_test_late"}});
  EXPECT_EQ(config.spec().layers.front().mixer, "test_late");
  EXPECT_EQ(config.options().size("cell_size"), 12);
  // What was found before stays where it was.
  EXPECT_EQ(&find_family("shellgame_gru"), &before);
  EXPECT_EQ(before.model_type, "shellgame_gru");
}

// x / sqrt(|x|^2 + 1e-6) with fuse_norm, x / max(|x|, 1e-12) without: keys of a thousandth show it.
TEST(Family, Rwkv7FollowsFuseNormInTheNormOfItsKeys) {
  const at::NoGradGuard no_gradients;
  const auto logits = [](bool fused, double size) {
    const Model model(ModelConfig({{"model_type", "rwkv7"},
                                   {"hidden_size", 16},
                                   {"head_dim", 8},
                                   {"num_hidden_layers", 2},
                                   {"vocab_size", 11},
                                   {"fuse_norm", fused},
                                   {"initializer_range", 0.5}}),
                      {.seed = 3});
    for (const Parameter& parameter : model.parameters()) {
      if (parameter.name.ends_with("k_k")) parameter.value.data().fill_(size);
    }
    return model.logits(at::arange(11).unsqueeze(0));
  };
  // Without, the size of all keys means nothing.
  EXPECT_LT((logits(false, 1e-4) - logits(false, 1)).abs().max().item<float>(), 1e-4);
  EXPECT_GT((logits(true, 1e-4) - logits(true, 1)).abs().max().item<float>(), 1e-2);
  EXPECT_LT((logits(true, 1) - logits(false, 1)).abs().max().item<float>(), 1e-4);
}

// The forget gate of an LSTM and the update gate of a GRU are the second of those that Torch lays
// out.
TEST(Family, KeepBiasOpensTheGateThatKeepsTheState) {
  for (const auto& [family, gates] :
       {std::pair("shellgame_lstm", 4), std::pair("shellgame_gru", 3)}) {
    const auto bias = [&](double keep) {
      const Model model(ModelConfig({{"model_type", family},
                                     {"hidden_size", 16},
                                     {"num_hidden_layers", 1},
                                     {"vocab_size", 11},
                                     {"keep_bias", keep}}),
                        {.seed = 3});
      for (const Parameter& parameter : model.parameters()) {
        if (parameter.name.ends_with("bias_ih")) return parameter.value.detach().view({gates, 16});
      }
      throw UsageError("no bias");
    };
    at::Tensor moved = bias(2) - bias(0);
    EXPECT_NEAR(moved[1].min().item<double>(), 2, 1e-6);
    EXPECT_NEAR(moved[1].max().item<double>(), 2, 1e-6);
    moved[1].zero_();
    EXPECT_EQ(moved.abs().max().item<double>(), 0);
  }
}

TEST(Family, Rwkv7LeavesLayerZeroToItself) {
  const auto with_attention = [](int layer) {
    return ModelConfig({{"model_type", "rwkv7"},
                        {"hidden_size", 16},
                        {"head_dim", 8},
                        {"num_hidden_layers", 2},
                        {"attn", {{"layers", {layer}}, {"num_heads", 2}}}});
  };
  EXPECT_EQ(with_attention(1).spec().layers[1].mixer, "attention");
  EXPECT_THROW(with_attention(0), InputError);
}

TEST(Family, AnUnknownOneIsRefusedWithTheKnownNames) {
  try {
    find_family("mamba3");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("mamba2"));
    EXPECT_THAT(error.what(), testing::HasSubstr("'mamba3'"));
  }
}

}  // namespace
}  // namespace shellgame
