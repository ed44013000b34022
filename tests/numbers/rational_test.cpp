#include "shellgame/numbers/rational.h"

#include <gtest/gtest.h>

#include <cmath>

#include "shellgame/random/philox.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

TEST(Rational, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_rational("1/3"), Rational(1, 3));
  EXPECT_EQ(parse_rational("0.25"), Rational(1, 4));
  EXPECT_EQ(parse_rational("010"), Rational(10));  // not octal
  EXPECT_EQ(parse_rational("2.5e-1"), Rational(1, 4));
  EXPECT_EQ(parse_rational("-3"), Rational(-3));
  EXPECT_EQ(rational_from(0.1), Rational(1, 10));
  for (const char* wrong : {"", "1/0", "a", "1/", "0x1", "1e", "1e99999", ".", "--1", "1 2"})
    EXPECT_THROW(parse_rational(wrong), UsageError) << wrong;
  EXPECT_THROW(rational_from(NAN), UsageError);
}

TEST(Rational, TheNearestDoubleIsTheOneThatTheCompilerReads) {
  EXPECT_EQ(to_double(Rational(1, 3)), 1.0 / 3);
  EXPECT_EQ(to_double(parse_rational("0.1")), 0.1);
  RandomStream stream(1, 1, Lane::kSequence);
  for (int i = 0; i < 10'000; ++i) {  // a quotient of doubles is rounded to nearest by the machine
    const std::uint32_t a = stream.next(), b = 1 + stream.below(1u << 31);
    Rational exact(a, b);
    exact.canonicalize();
    EXPECT_EQ(to_double(exact), static_cast<double>(a) / static_cast<double>(b));
    EXPECT_EQ(parse_rational(to_string(exact)), exact);
  }
}

}  // namespace
}  // namespace shellgame
