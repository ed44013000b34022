#include "shellgame/beliefs/predictions.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "shellgame/automata/from_program.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/programs/execute.h"
#include "shellgame/programs/parse.h"
#include "tests/support/program_generator.h"

namespace shellgame {
namespace {

TEST(Predictions, AnUnobservedSwapLeavesOneHalf) {
  const Program program = parse(
      ">>> from random import random\n>>> a = 1\n>>> b = 2\n"
      ">>> if random() < 0.5: a, b = b, a\n...\n>>> print('a', a)\na 2\n>>> print('b', b)\nb 1\n");
  std::vector<RevealMark> marks;
  render(program, &marks);
  const auto all = predictions(program, marks);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0], (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(all[1], (std::vector<double>{1, 0}));
}

TEST(Predictions, ValuesOfOnePrintAreReadFromLeftToRight) {
  const Program program = parse(
      ">>> from random import random\n>>> a = 1\n>>> b = 2\n"
      ">>> if random() < 0.25: a, b = b, a\n...\n>>> print('a', a, 'b', b)\na 2 b 1\n");
  std::vector<RevealMark> marks;
  render(program, &marks);
  const auto all = predictions(program, marks);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0], (std::vector<double>{0.75, 0.25}));
  EXPECT_EQ(all[1], (std::vector<double>{1, 0}));
}

RC_GTEST_PROP(Predictions, AnyProgramHasADistributionForEachMarkThatAllowsTheTruth, ()) {
  const Program program = *arbitrary_program(11);
  RC_PRE(program.names().size() <= 6);
  std::vector<RevealMark> marks;
  render(program, &marks);
  const auto all = predictions(program, marks);
  RC_ASSERT(all.size() == marks.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    double sum = 0;
    for (double p : all[i]) {
      RC_ASSERT(p >= 0);
      sum += p;
    }
    RC_ASSERT(std::abs(sum - 1) < 1e-12);
    if (shows_value(program, marks[i])) RC_ASSERT(all[i][marks[i].value] > 0);
  }
}

}  // namespace
}  // namespace shellgame
