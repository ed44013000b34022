// Numbers as people write them.
#include "shellgame/automata/rational.h"

#include <gtest/gtest.h>

namespace shellgame {
namespace {

TEST(Rational, DecimalsBelowOneAreNotOctal) {
  EXPECT_EQ(parse_rational("0.25"), Rational(1, 4));
  EXPECT_EQ(parse_rational("0.0125"), Rational(1, 80));
  EXPECT_EQ(parse_rational("010/020"), Rational(1, 2));
  EXPECT_EQ(rational_from(0.85), Rational(17, 20));
}

}  // namespace
}  // namespace shellgame
