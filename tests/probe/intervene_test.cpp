#include "shellgame/probe/intervene.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include "shellgame/text/error.h"
#include "tests/probe/probe_models.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

double accuracy_at(const Json& report, int layer, int head, double amount) {
  for (const Json& row : report.at("heads")) {
    if (row.at("layer") == layer && row.at("head") == head &&
        (row.at("amount").is_null() || row.at("amount") == amount)) {
      return row.at("accuracy");
    }
  }
  return -1;
}

const char* const kTask = "group = 'S4'\ncommands = 32\nspacing = 2\n";

TEST(Intervene, OnlyTheTrackerOfAnExactModelNeedsItsBetaOfTwoToHoldValues) {
  const Model model = exact_as_model({.variables = 4});
  const WholeEpisodes traces = probe_traces(kTask, 1);
  const Json report = probe_intervene(model, traces.source(), 8, {.amounts = {1, 0.5}});
  EXPECT_EQ(report.at("accuracy"), 1.0);
  for (int layer = 0; layer < 2; ++layer) {
    for (int head = 0; head < 4; ++head) EXPECT_EQ(accuracy_at(report, layer, head, 1), 1.0);
  }
  EXPECT_LT(accuracy_at(report, 1, 0, 0.5), 0.6);
  for (int head = 1; head < 4; ++head) EXPECT_EQ(accuracy_at(report, 1, head, 0.5), 1.0);
}

TEST(Intervene, AblationClampAndPatchHitTheTracker) {
  const Model model = exact_as_model({.variables = 4});
  const WholeEpisodes traces = probe_traces(kTask, 1);
  for (const char* change : {"ablate", "clamp", "patch"}) {
    const Json report = probe_intervene(
        model, traces.source(), 8, {.change = parse_change(change), .layer = 1, .amounts = {1}});
    ASSERT_EQ(report.at("heads").size(), 4u);
    EXPECT_LT(accuracy_at(report, 1, 0, 1), 0.7) << change;
    EXPECT_EQ(accuracy_at(report, 1, 2, 1), 1.0) << change;
  }
}

TEST(Intervene, ATapOfABlockIsChangedAsAWhole) {
  const Model model = exact_as_model({.variables = 4});
  const WholeEpisodes traces = probe_traces(kTask, 1);
  const Json report = probe_intervene(model, traces.source(), 4,
                                      {.change = Change::kAblate, .tap = "block_output"});
  ASSERT_EQ(report.at("heads").size(), 2u);
  EXPECT_TRUE(report.at("heads")[0].at("head").is_null());
  EXPECT_LT(report.at("heads")[1].at("accuracy").get<double>(), 0.6);
}

TEST(Intervene, HeadsOfEveryKindOfMixerCanBeAblated) {
  const WholeEpisodes traces = probe_traces("group = 'S3'\ncommands = 6\nspacing = 2\n", 1);
  for (const char* mixer : {"attention", "lstm", "gru", "slstm", "delta_net"}) {
    const Json report =
        probe_intervene(untrained_model(mixer), traces.source(), 2, {.change = Change::kAblate});
    EXPECT_EQ(report.at("heads").size(), mixer[0] == 'l' || mixer[0] == 'g' ? 2u : 4u) << mixer;
  }
}

TEST(Intervene, RoundingTakesWhatIsNearAWholeNumberToIt) {
  const Taps taps =
      taps_of({.change = Change::kRound, .tap = "beta", .layer = 0, .head = 1, .amount = 0.1}, 2);
  const at::Tensor x =
      at::tensor({1.95, 1.95, 0.5, 0.5, 0.125, 0.0625, 1.0, 1.875}).view({1, 4, 2});
  const at::Tensor y = taps.call({.layer = 0, .name = "beta"}, x);
  EXPECT_TRUE(y.equal(at::tensor({1.95, 2.0, 0.5, 0.5, 0.125, 0.0, 1.0, 1.875}).view({1, 4, 2})));
}

TEST(Intervene, APatchGivesTheTapOfTheNextTrace) {
  const Taps taps = taps_of({.change = Change::kPatch, .tap = "v", .layer = 0, .head = 1}, 2);
  const at::Tensor x = at::arange(12, at::kDouble).view({3, 1, 2, 2});
  const at::Tensor y = taps.call({.layer = 0, .name = "v"}, x);
  EXPECT_TRUE(y.select(2, 0).equal(x.select(2, 0)));
  EXPECT_TRUE(y[0].select(1, 1).equal(x[1].select(1, 1)));
  EXPECT_TRUE(y[2].select(1, 1).equal(x[0].select(1, 1)));
}

TEST(Intervene, WrongUseIsRefusedInASentence) {
  const Model model = untrained_model("delta_net");
  const WholeEpisodes traces = probe_traces("group = 'S3'\ncommands = 4\nspacing = 1\n", 1);
  EXPECT_THROW(probe_intervene(model, traces.source(), 2, {.tap = "betta"}), UsageError);
  EXPECT_THROW(probe_intervene(model, traces.source(), 2, {.layer = 9}), UsageError);
  EXPECT_THROW(probe_intervene(model, traces.source(), 3, {.change = Change::kPatch}), UsageError);
  EXPECT_THROW(
      probe_intervene(model, traces.source(), 2, {.change = Change::kPatch, .tap = "state"}),
      UsageError);
  EXPECT_THROW(parse_change("remove"), UsageError);
}

}  // namespace
}  // namespace shellgame
