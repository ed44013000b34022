#include "shellgame/probe/tracker.h"

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "shellgame/text/error.h"
#include "tests/probe/probe_models.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

Json found(const Model& model, const std::string& task) {
  return find_tracker(model, probe_traces(task + "\ncommands = 32\nspacing = 2\n", 24),
                      {.places = 8, .judged = 16});
}

void expect_tracker(const Json& report, int layer, int head) {
  ASSERT_TRUE(report.at("tracker").is_object()) << report.dump(1);
  EXPECT_EQ(report.at("tracker").at("layer"), layer);
  EXPECT_EQ(report.at("tracker").at("head"), head);
  EXPECT_EQ(report.at("tracker"), report.at("heads")[0]);
}

TEST(Tracker, IsFoundInEveryExactModel) {
  for (const int n : {3, 4, 5}) {
    const std::string group = fmt::format("group = 'S{}'\n", n);
    for (const bool silu : {false, true}) {
      expect_tracker(found(exact_as_model({.variables = n, .silu = silu}), group), 1, 0);
    }
    const std::string swaps = group + "moves = 'swaps'";
    for (const auto representation :
         {ExactRepresentation::kPermutation, ExactRepresentation::kStandard}) {
      expect_tracker(found(exact_as_model({.variables = n,
                                           .moves = ExactMoves::kSwaps,
                                           .representation = representation}),
                           swaps),
                     1, 0);
    }
    const Model marginal =
        exact_as_model({.variables = n, .kind = ExactKind::kMarginal, .moves = ExactMoves::kSwaps});
    expect_tracker(found(marginal, swaps), 1, 0);
  }
}

// Head 0 of a layer changes places with another.
void exchange_heads(const Model& model, int layer, std::int64_t other, std::int64_t heads) {
  const at::NoGradGuard no_gradients;
  for (const char* name :
       {"q_proj", "k_proj", "v_proj", "b_proj", "q_conv1d", "k_conv1d", "v_conv1d", "o_proj"}) {
    at::Tensor all =
        model.parameter(fmt::format("model.layers.{}.attn.{}.weight", layer, name)).value;
    if (std::string(name) == "o_proj") all = all.t();
    const std::int64_t width = all.size(0) / heads;
    const at::Tensor first = all.narrow(0, 0, width).clone();
    all.narrow(0, 0, width).copy_(all.narrow(0, other * width, width));
    all.narrow(0, other * width, width).copy_(first);
  }
}

TEST(Tracker, IsFoundWhereverItsHeadIs) {
  for (const int head : {1, 3}) {
    const Model model = exact_as_model({.variables = 4});
    exchange_heads(model, 1, head, 4);
    expect_tracker(found(model, "group = 'S4'"), 1, head);
  }
}

TEST(Tracker, IsFoundInTheMarginalModelUnderUncertainty) {
  const Model marginal =
      exact_as_model({.variables = 3, .kind = ExactKind::kMarginal, .moves = ExactMoves::kSwaps});
  expect_tracker(found(marginal, "group = 'S3'\nmoves = 'swaps'\nuncertainty = 'branching'"), 1, 0);
}

TEST(Tracker, IsNoneOfShuffledWeights) {
  const Model model = exact_as_model({.variables = 5});
  shuffle_weights(model);
  const Json report = found(model, "group = 'S5'");
  EXPECT_TRUE(report.at("tracker").is_null()) << report.dump(1);
  EXPECT_EQ(report.at("heads").size(), 8u);
}

TEST(Tracker, IsNoneWhereBetaIsAtMostOne) {
  // The same weights in a model whose range of beta ends at 1.
  const Model exact = exact_as_model({.variables = 5});
  Options::Json config = exact.config().json();
  config["allow_neg_eigval"] = false;
  const Model model{ModelConfig(config)};
  const at::NoGradGuard no_gradients;
  for (std::size_t i = 0; i < model.parameters().size(); ++i) {
    model.parameters()[i].value.copy_(exact.parameters()[i].value);
  }
  EXPECT_TRUE(found(model, "group = 'S5'").at("tracker").is_null());
}

TEST(Tracker, IsNoneOfModelsThatWereNeverTrained) {
  for (const char* mixer : {"delta_net", "lstm"}) {
    EXPECT_TRUE(found(untrained_model(mixer), "group = 'S3'").at("tracker").is_null()) << mixer;
  }
  EXPECT_THROW(found(untrained_model("attention"), "group = 'S3'"), UsageError);
}

}  // namespace
}  // namespace shellgame
