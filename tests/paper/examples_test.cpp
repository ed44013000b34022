#include "shellgame/paper/examples.h"

#include <gtest/gtest.h>

namespace shellgame {
namespace {

TEST(Examples, OnlyTheNamedSlipDiffersFromThePaper) {
  std::size_t lines = 0, differing = 0;
  for (const WorkedExample& example : paper_examples()) {
    for (const ExampleLine& line : example.lines) {
      ++lines;
      if (line.agrees) continue;
      ++differing;
      EXPECT_EQ(line.what, "|(0.9 I)^100 h|") << example.name << ": " << line.ours;
      EXPECT_EQ(line.ours, "2.656e-05");
    }
  }
  EXPECT_EQ(differing, 1u);
  EXPECT_GT(lines, 35u);
}

}  // namespace
}  // namespace shellgame
