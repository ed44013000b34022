#include "shellgame/probe/state.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/text/error.h"
#include "tests/probe/probe_models.h"

namespace shellgame {
namespace {

TEST(State, CommandsAreSpreadAndTheLastIsLeftOut) {
  EXPECT_THAT(spread_commands(64, 3), testing::ElementsAre(20, 41, 62));
  EXPECT_THAT(spread_commands(4, 12), testing::ElementsAre(0, 1, 2));
}

TEST(State, WalkedStatesAreThoseOfTheTokensRead) {
  const Model model = untrained_model("delta_net");
  // Prints and asserts have lines of different lengths: some traces stand alone.
  const WholeEpisodes traces = probe_traces(
      "group = 'S3'\nreveal-forms = ['print', 'equal']\ncommands = 6\nspacing = 1\n", 3);
  const at::NoGradGuard no_gradients;
  std::size_t seen = 0;
  walk_states(
      model, traces.all(), {1, 4},
      [&](const std::vector<std::size_t>& rows, std::size_t place, const ModelState& state) {
        for (std::size_t r = 0; r < rows.size(); ++r) {
          const WholeEpisode& trace = traces.all()[rows[r]];
          const std::size_t end = trace.steps[place == 0 ? 1 : 4].to;
          ModelState alone;
          model.logits(
              at::tensor(at::ArrayRef<std::int64_t>(trace.ids.data(), end), at::kLong).unsqueeze(0),
              &alone);
          const at::Tensor expected = head_state(alone.layers[1], model.declaration(1), 1)[0];
          const at::Tensor got =
              head_state(state.layers[1], model.declaration(1), 1)[static_cast<std::int64_t>(r)];
          EXPECT_LT((expected - got).abs().max().item<double>(), 1e-4);
          ++seen;
        }
      });
  EXPECT_EQ(seen, 6u);
}

TEST(State, TheTrackerOfAnExactModelHoldsTheWholeStateAndOthersDoNot) {
  const Model model = exact_as_model({.variables = 4});
  const WholeEpisodes traces = probe_traces("group = 'S4'\ncommands = 24\nspacing = 2\n", 32);
  const auto report = probe_state(model, traces, 8);
  EXPECT_EQ(report.at("bayes_accuracy"), 1.0);
  for (const auto& row : report.at("heads")) {
    if (row.at("layer") == 1 && row.at("head") == 0) {
      EXPECT_EQ(row.at("accuracy"), 1.0);
      EXPECT_EQ(row.at("exact"), 1.0);
      EXPECT_GT(row.at("belief").get<double>(), 0.999);
      EXPECT_EQ(row.at("follows"), 1.0);
      EXPECT_GT(row.at("questions").get<int>(), 50);
    } else {
      EXPECT_LT(row.at("accuracy").get<double>(), 0.6) << row.dump();
      EXPECT_EQ(row.at("stays"), 1.0) << row.dump();
    }
  }
}

TEST(State, TheMatrixOfTheMarginalModelIsReadAsTheBelief) {
  const Model model =
      exact_as_model({.variables = 3, .kind = ExactKind::kMarginal, .moves = ExactMoves::kSwaps});
  const WholeEpisodes traces = probe_traces(
      "group = 'S3'\nmoves = 'swaps'\nuncertainty = 'branching'\ncommands = 24\nspacing = 2\n", 48);
  const auto readouts = read_states(model, traces, {{1, 0}, {0, 0}}, 8);
  EXPECT_GT(readouts[0].belief.value(), 0.8);
  EXPECT_LT(readouts[1].belief.value(), 0.3);
}

TEST(State, CellsWithoutHeadsAreReadAndAttentionIsRefused) {
  const WholeEpisodes traces = probe_traces("group = 'S3'\ncommands = 6\nspacing = 2\n", 6);
  for (const char* mixer : {"lstm", "gru", "slstm"}) {
    const auto report = probe_state(untrained_model(mixer), traces, 2);
    EXPECT_EQ(report.at("heads").size(), mixer[0] == 's' ? 4u : 2u);
  }
  EXPECT_THROW(probe_state(untrained_model("attention"), traces, 2), UsageError);
}

}  // namespace
}  // namespace shellgame
