#include "shellgame/train/tune_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "shellgame/text/error.h"
#include "shellgame/train/toml_json.h"

namespace shellgame {
namespace {

TuneSpace space_of(const std::string& toml) {
  return read_tune_space(toml_to_json(toml, "x.toml"), "x.toml");
}

constexpr char kLists[] = R"(
share = 0.5
seed = 40
[space]
"optimiser.learning-rate" = [1e-3, 2e-3]
init = ["torch", "fla"]
curriculum = [{ name = "short" }, { name = "long", set = ["stages.0.steps=90", "stages.1.steps=10"] }]
)";

TEST(TuneSpace, NoCombinationIsDrawnTwice) {
  const TuneSpace space = space_of(kLists);
  EXPECT_EQ(space.combinations(), 8u);
  std::set<std::vector<std::string>> seen;
  for (const TuneDraw& draw : draw_trials(space, 8)) {
    EXPECT_TRUE(seen.insert(draw.settings).second);
    EXPECT_EQ(draw.names.size(), 3u);
  }
  EXPECT_TRUE(seen.contains(
      {"stages.0.steps=90", "stages.1.steps=10", "init=\"fla\"", "optimiser.learning-rate=0.002"}));
  EXPECT_THROW(draw_trials(space, 9), UsageError);
}

TEST(TuneSpace, FewerTrialsAreTheFirstOfMore) {
  const TuneSpace space = space_of(kLists);
  const auto few = draw_trials(space, 3), many = draw_trials(space, 8);
  for (std::size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i].settings, many[i].settings);
  TuneSpace other = space;
  other.seed = 41;
  std::vector<std::vector<std::string>> first, second;
  for (const TuneDraw& draw : many) first.push_back(draw.settings);
  for (const TuneDraw& draw : draw_trials(other, 8)) second.push_back(draw.settings);
  EXPECT_NE(first, second);
}

TEST(TuneSpace, RangesAreDrawnOnTheirScale) {
  const TuneSpace space = space_of(
      "[space]\n\"optimiser.learning-rate\" = { from = 1e-4, to = 1e-2 }\n\"optimiser.clip\" = { "
      "from = -1, to = 3, scale = \"linear\" }\ninit = [\"fla\"]\n");
  int below = 0;
  double sum = 0;
  for (const TuneDraw& draw : draw_trials(space, 400)) {
    ASSERT_EQ(draw.settings.size(), 3u);
    double clip = 0, rate = 0;
    for (const std::string& setting : draw.settings) {
      const double value = std::atof(setting.substr(setting.find('=') + 1).c_str());
      if (setting.starts_with("optimiser.clip")) clip = value;
      if (setting.starts_with("optimiser.learning-rate")) rate = value;
    }
    EXPECT_GE(rate, 1e-4);
    EXPECT_LE(rate, 1e-2);
    EXPECT_GE(clip, -1);
    EXPECT_LE(clip, 3);
    below += rate < 1e-3;
    sum += clip;
  }
  EXPECT_NEAR(below, 200, 40);  // the middle of the logarithms
  EXPECT_NEAR(sum / 400, 1, 0.2);
}

TEST(TuneSpace, WhatIsWrongIsSaidWithItsKey) {
  const auto said = [](const std::string& toml) -> std::string {
    try {
      space_of(toml);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(said("share = 1"), HasSubstr("must have a table 'space'"));
  EXPECT_THAT(said("select = 'loss'\n[space]\ninit=['fla']"), HasSubstr("tune.select"));
  EXPECT_THAT(said("[space]\ninit = []"), HasSubstr("tune.space.init"));
  EXPECT_THAT(said("[space]\ninit = ['fla', 'fla']"), HasSubstr("must list 'fla' once"));
  EXPECT_THAT(said("[space]\nseed = [1, 2]"), HasSubstr("must leave 'seed' to the search"));
  EXPECT_THAT(said("[space]\nx = [{name='a', set=['seed=3']}]"), HasSubstr("'seed=3'"));
  EXPECT_THAT(said("[space]\nx = { from = 2, to = 1 }"), HasSubstr("'from' below 'to'"));
  EXPECT_THAT(said("[space]\nx = { from = 0, to = 1 }"), HasSubstr("above 0"));
  EXPECT_THAT(said("[space]\nx = { form = 0, to = 1 }"), HasSubstr("did you mean"));
  EXPECT_EQ(said(kLists), "");
}

}  // namespace
}  // namespace shellgame
