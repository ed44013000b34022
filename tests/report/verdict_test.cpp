#include "shellgame/report/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

using testing::HasSubstr;

// Ten seeds that lose `m5` on uncertain cycles and `control` on the others, spread a little.
VerdictArm arm_of(const std::string& name, double m5, double control, double early = 0) {
  VerdictArm arm{.name = name};
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const double more = 1e-3 * static_cast<double>(seed);
    arm.seeds.push_back({.seed = seed,
                         .l_z = control,
                         .l_d = control / 2,
                         .l_m5 = m5 + more,
                         .l_m1 = 0.6 * (m5 - control) + control + more,
                         .l_a = m5 / 3,
                         .early = early,
                         .early_controls = 0,
                         .regret = 0.004});
  }
  return arm;
}

VerdictRule rule_of_two() {
  VerdictRule rule;
  rule.linear = {"DN2", "DN1"};
  rule.nonlinear = {"LSTM1", "LSTM2"};
  rule.regimes = {{"U", "", ""}, {"K", "", ""}};
  return rule;
}

VerdictRegime regime_of(const std::string& name, double linear, double control = 0.01,
                        double early = 0) {
  return {.name = name,
          .arms = {arm_of("DN2", linear, control, early), arm_of("DN1", linear, control, early),
                   arm_of("LSTM1", 0.01, 0.01), arm_of("LSTM2", 0.012, 0.01)}};
}

std::string words(double u, double k, double control = 0.01) {
  return give_verdict(rule_of_two(), {regime_of("U", u, control), regime_of("K", k, control)})
      .words;
}

TEST(Verdict, IsSupportedWhereLinearArmsLoseInBothRegimes) {
  const Verdict verdict = give_verdict(rule_of_two(), {regime_of("U", 0.6), regime_of("K", 0.4)});
  EXPECT_EQ(verdict.words, "supported");
  const VerdictTest& test = verdict.regimes[0].eligible;
  ASSERT_EQ(test.pairs.size(), 4u);
  // Ten against ten, all larger: one of 184,756 divisions; Holm takes it four times.
  EXPECT_DOUBLE_EQ(test.pairs[0].p, 1.0 / 184756);
  EXPECT_DOUBLE_EQ(test.pairs[0].adjusted, 4.0 / 184756);
  EXPECT_NEAR(*test.arms[0].e, 0.5945, 1e-12);
  EXPECT_TRUE(test.belief);
}

TEST(Verdict, IsOfCoverageWhereTrainingOnCyclesMendsIt) {
  EXPECT_EQ(words(0.6, 0.02), "supported in U alone: absent once it is trained on, coverage");
}

TEST(Verdict, IsNotSupportedWhereTheArmsAreAlike) { EXPECT_EQ(words(0.02, 0.02), "not supported"); }

TEST(Verdict, IsOfLengthWhereTheControlsAreLostAsMuch) {
  EXPECT_EQ(words(0.4, 0.4, 0.39), "length, not uncertainty");
}

TEST(Verdict, IsUndecidedInBetween) { EXPECT_EQ(words(0.085, 0.085), "undecided"); }

TEST(Verdict, WhatIsNotLearntIsNotJudgedAndTheOtherRegimeIs) {
  const VerdictRule rule = rule_of_two();
  const Verdict one = give_verdict(rule, {regime_of("U", 0.6, 0.01, 0.3), regime_of("K", 0.4)});
  EXPECT_EQ(one.words, "supported (not learnt in this budget in U)");
  EXPECT_EQ(one.regimes[0].eligible.verdict, "not learnt");
  EXPECT_THAT(one.regimes[0].eligible.not_learnt, testing::ElementsAre("DN2", "DN1"));
  EXPECT_EQ(one.with_controls, "supported");
  EXPECT_EQ(one.with_all, "supported");
  const Verdict both =
      give_verdict(rule, {regime_of("U", 0.6, 0.01, 0.3), regime_of("K", 0.4, 0.01, 0.3)});
  EXPECT_EQ(both.words, "not learnt in this budget");
  VerdictRegime seven = regime_of("K", 0.4);
  for (std::size_t i = 0; i < 3; ++i) seven.arms[2].seeds[i].regret = 0.02;
  EXPECT_EQ(give_verdict(rule, {regime_of("U", 0.6), seven}).words, "not learnt in this budget");
}

TEST(Verdict, OneRegimeAloneIsNoVerdict) {
  EXPECT_EQ(give_verdict(rule_of_two(), {regime_of("U", 0.6)}).words,
            "supported in U, others not measured");
  EXPECT_EQ(give_verdict(rule_of_two(), {}).words, "no regime was measured");
}

std::string refusal(const std::string& text) {
  const ScratchFolder folder;
  write_file(folder / "rule.toml", text);
  try {
    read_verdict_rule(folder / "rule.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(VerdictRule, WhatIsWrongIsSaid) {
  const std::string whole =
      "linear = ['a']\nnonlinear = ['b']\n[[regime]]\nname = 'U'\ncycle = 'c.json'\nuniform = "
      "'u.json'\n";
  EXPECT_EQ(refusal(whole), "");
  EXPECT_THAT(refusal("early = []\n" + whole), HasSubstr("key 'early' must be"));
  EXPECT_THAT(refusal("primary = 0\n" + whole), HasSubstr("whole number from 1"));
  EXPECT_THAT(refusal("lines = 1\n" + whole), HasSubstr("there is no key 'lines'"));
  EXPECT_THAT(refusal("linear = []\nnonlinear = ['b']\n"), HasSubstr("at least one arm"));
  EXPECT_THAT(refusal("linear = ['a']\nnonlinear = ['b']\n"), HasSubstr("[[regime]]"));
  EXPECT_THAT(refusal(whole + "[levels]\nfamily = -1\n"), HasSubstr("from 0 to 10"));
}

// Files of one seed of one arm: L at N is N / 1000, on question a half of that.
std::string cycle_csv() {
  std::string text = "arm,seed,schedule,N,ending,miss\n";
  for (const std::string schedule : {"Z", "D", "M5", "M1"}) {
    for (const int n : {1, 4, 8, 256}) {
      text += "LSTM1,3," + schedule + "," + std::to_string(n) + ",c," + std::to_string(n * 1e-3);
      text += "\nLSTM1,3," + schedule + "," + std::to_string(n) + ",a,";
      text += std::to_string(n * 5e-4) + "\n";
    }
  }
  return text;
}

TEST(VerdictFiles, TheRegretIsThatOfTheTrainedLengthOverAllSpacings) {
  const ScratchFolder folder;
  VerdictRule rule = rule_of_two();
  rule.regimes = {{"U", folder / "cycle.csv", folder / "uniform.csv"},
                  {"K", folder / "none.csv", folder / "none.csv"}};
  write_file(folder / "cycle.csv", cycle_csv());
  write_file(folder / "uniform.csv",
             "arm,seed,commands,spacing,regret\nLSTM1,3,32,1,0.004\nLSTM1,3,32,2,0.012\n"
             "LSTM1,3,128,1,0.5\nLSTM1,3,2048,2,0.7\n");
  const std::vector<VerdictRegime> regimes = read_verdict_regimes(rule);
  ASSERT_EQ(regimes.size(), 1u);
  ASSERT_EQ(regimes[0].arms.size(), 1u);
  const VerdictSeed& seed = regimes[0].arms[0].seeds.at(0);
  EXPECT_DOUBLE_EQ(seed.regret, 0.008);
  EXPECT_DOUBLE_EQ(seed.l_m5, 0.256);
  EXPECT_DOUBLE_EQ(*seed.l_a, 0.128);
  EXPECT_DOUBLE_EQ(seed.early, 0.008);
  write_file(folder / "uniform.csv", "arm,seed,commands,spacing,regret\nLSTM1,3,128,1,0.5\n");
  try {
    read_verdict_regimes(rule);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'LSTM1' must have a regret at 32 commands for seed 3"));
  }
}

TEST(VerdictRule, TheShippedOneIsThatOfTheDesign) {
  const VerdictRule rule =
      read_verdict_rule(SHELLGAME_SOURCE_DIR "/experiments/uncertainty/rule.toml");
  EXPECT_EQ(rule.linear, (std::vector<std::string>{"DN2", "DN1"}));
  EXPECT_EQ(rule.nonlinear, (std::vector<std::string>{"LSTM1", "LSTM2"}));
  EXPECT_EQ(rule.primary, 256u);
  EXPECT_EQ(rule.trained, 32u);
  EXPECT_EQ(rule.early, (std::vector<std::uint64_t>{1, 4, 8}));
  EXPECT_EQ(rule.levels.family, 0.025);
  EXPECT_EQ(rule.levels.eligible_seeds, 8u);
  ASSERT_EQ(rule.regimes.size(), 2u);
}

}  // namespace
}  // namespace shellgame
