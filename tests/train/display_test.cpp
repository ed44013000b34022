#include "shellgame/train/display.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace shellgame {
namespace {

const TrainingStep kReport{.stage = 1,
                           .stages = 6,
                           .stage_name = "(4;1)",
                           .stage_step = 50,
                           .stage_steps = 100,
                           .step = 150,
                           .steps = 300,
                           .loss = 0.25,
                           .accuracy = 0.5,
                           .tokens_per_second = 54'321,
                           .utilisation = 0.4,
                           .seconds = 65,
                           .step_seconds = 0.5};

TEST(Display, ALineHasAllNumbers) {
  EXPECT_EQ(
      step_line(kReport, 400, false),
      "stage 2/6 (4;1)  step 50/100  loss 0.2500  revealed 0.500  54k tokens/s  40 % of peak  "
      "1:05 elapsed, at most 1:15 left");
}

TEST(Display, ANarrowTerminalGetsWhatFits) {
  EXPECT_EQ(step_line(kReport, 30, true).size(), 29u);
  EXPECT_TRUE(step_line(kReport, 200, true).starts_with("█"));
}

TEST(Display, UsualTerminalsHaveABarAndTheTimeLeft) {
  for (const std::size_t width : {60u, 80u, 100u, 120u, 140u}) {
    const std::string line = step_line(kReport, width, true);
    EXPECT_TRUE(line.starts_with("█")) << line;
    EXPECT_TRUE(line.ends_with("1:15 left")) << line;
    EXPECT_NE(line.find("revealed 0.500"), std::string::npos) << line;
    // A letter of the bar has three bytes.
    const auto extra = static_cast<std::size_t>(
        std::ranges::count_if(line, [](char c) { return (c & 0xC0) == 0x80; }));
    EXPECT_LT(line.size() - extra, width) << line;
  }
}

TEST(Display, TimesReadLikeAClock) {
  EXPECT_EQ(clock_text(5), "0:05");
  EXPECT_EQ(clock_text(3725), "1:02:05");
}

}  // namespace
}  // namespace shellgame
