#include "shellgame/probe/betas.h"

#include <gtest/gtest.h>

#include "shellgame/text/error.h"
#include "tests/probe/probe_models.h"

namespace shellgame {
namespace {

double share_at(const nlohmann::ordered_json& report, int layer, int head, const char* kind) {
  for (const auto& row : report.at("kinds")) {
    if (row.at("layer") == layer && row.at("head") == head && row.at("kind") == kind) {
      return row.at("above_1.9");
    }
  }
  return -1;
}

TEST(Betas, ASwapReflectsAtItsEqualsSignAndNowhereElse) {
  const Model model = exact_as_model({.variables = 4, .moves = ExactMoves::kSwaps});
  const auto report = probe_betas(
      model, probe_traces("group = 'S4'\nmoves = 'swaps'\ncommands = 40\nspacing = 4\n", 2).all());
  EXPECT_EQ(report.at("heads").size(), 8u);
  for (const char* kind : {"newline", "prompt", "left variable", "left comma", "right variable",
                           "right comma", "print", "name", "space", "value", "assigned value"}) {
    EXPECT_EQ(share_at(report, 1, 0, kind), 0) << kind;
  }
  // The `=` of the four first assignments write, those of the 40 swaps reflect.
  EXPECT_NEAR(share_at(report, 1, 0, "="), 40.0 / 44, 1e-12);
}

TEST(Betas, PermutationsReflectAtVariables) {
  const Model model = exact_as_model({.variables = 4});
  const auto report =
      probe_betas(model, probe_traces("group = 'S4'\ncommands = 20\nspacing = 4\n", 1).all());
  EXPECT_EQ(share_at(report, 1, 0, "right variable"), 1);
  EXPECT_EQ(share_at(report, 1, 0, "newline"), 0);
}

TEST(Betas, CountsAreThoseOfTheTokens) {
  const Model model = untrained_model("delta_net");
  const WholeEpisodes traces = probe_traces("group = 'S3'\ncommands = 100\nspacing = 4\n", 2);
  const auto report = probe_betas(model, traces.all());
  const std::size_t tokens = traces.all()[0].ids.size() + traces.all()[1].ids.size();
  for (const auto& row : report.at("heads")) {
    EXPECT_EQ(row.at("count"), tokens);
    EXPECT_LE(row.at("q25").get<double>(), row.at("median").get<double>());
  }
}

TEST(Betas, ALayerIsAllOfItsHeads) {
  const Model model = exact_as_model({.variables = 4});
  const auto report =
      probe_betas(model, probe_traces("group = 'S4'\ncommands = 20\nspacing = 4\n", 1).all());
  ASSERT_EQ(report.at("layers").size(), 2u);
  for (const auto& layer : report.at("layers")) {
    std::size_t count = 0;
    double sum = 0, most = 0;
    for (const auto& head : report.at("heads")) {
      if (head.at("layer") != layer.at("layer")) continue;
      count += head.at("count").get<std::size_t>();
      sum += head.at("count").get<double>() * head.at("mean").get<double>();
      most = std::max(most, head.at("max").get<double>());
    }
    EXPECT_EQ(layer.at("count"), count);
    EXPECT_NEAR(layer.at("mean").get<double>(), sum / static_cast<double>(count), 1e-9);
    EXPECT_EQ(layer.at("max"), most);
  }
}

TEST(Betas, AMixerWithoutBetaIsRefusedInASentence) {
  const WholeEpisodes traces = probe_traces("group = 'S3'\ncommands = 4\nspacing = 1\n", 1);
  EXPECT_THROW(probe_betas(untrained_model("attention"), traces.all()), UsageError);
}

}  // namespace
}  // namespace shellgame
