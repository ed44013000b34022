#include "shellgame/groups/permutation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_set>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Permutation cycles(const char* text) { return Permutation::from_cycles(text); }

// A degree and that many points in some order.
std::vector<int> any_images() {
  const int n = *rc::gen::inRange(1, kMaxPoints + 1);
  std::vector<int> images(static_cast<std::size_t>(n));
  std::iota(images.begin(), images.end(), 0);
  for (std::size_t i = images.size(); i > 1; --i)
    std::swap(images[i - 1], images[*rc::gen::inRange<std::size_t>(0, i)]);
  return images;
}
Permutation any_permutation() { return Permutation::from_images(any_images()); }

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no UsageError";
}

TEST(Permutation, KeepsItsImages) {
  EXPECT_TRUE(rc::check([] {
    const std::vector<int> images = any_images();
    const Permutation p = Permutation::from_images(images);
    RC_ASSERT(p.images(static_cast<int>(images.size())) == images);
    for (int i = static_cast<int>(images.size()); i < kMaxPoints; ++i) RC_ASSERT(p(i) == i);
    RC_ASSERT(p.moved_points() <= static_cast<int>(images.size()));
  }));
}

TEST(Permutation, ThenAppliesTheFirstArgumentFirst) {
  const Permutation p = cycles("(1 2)"), q = cycles("(2 3)");
  EXPECT_EQ(then(p, q)(0), 2);   // 1 -> 2 -> 3
  EXPECT_EQ(after(p, q)(0), 1);  // 1 -> 1 -> 2
  EXPECT_EQ(product(p, q, Multiplication::kRight), after(p, q));
  EXPECT_EQ(product(p, q, Multiplication::kLeft), then(p, q));
  EXPECT_TRUE(rc::check([] {
    const Permutation a = any_permutation(), b = any_permutation();
    for (int x = 0; x < kMaxPoints; ++x) RC_ASSERT(then(a, b)(x) == b(a(x)));
    RC_ASSERT(then(a, b) == then_plain(a, b));
    RC_ASSERT(after(a, b) == then(b, a));
  }));
}

TEST(Permutation, ComposeIsAssociative) {
  EXPECT_TRUE(rc::check([] {
    const Permutation a = any_permutation(), b = any_permutation(), c = any_permutation();
    RC_ASSERT(then(then(a, b), c) == then(a, then(b, c)));
  }));
}

TEST(Permutation, InverseUndoes) {
  EXPECT_TRUE(rc::check([] {
    const Permutation a = any_permutation(), b = any_permutation();
    RC_ASSERT(then(a, a.inverse()).is_identity());
    RC_ASSERT(then(a.inverse(), a).is_identity());
    RC_ASSERT(then(a, b).inverse() == then(b.inverse(), a.inverse()));
  }));
}

TEST(Permutation, PowerIsRepeatedComposition) {
  EXPECT_TRUE(rc::check([] {
    const Permutation a = any_permutation();
    const int k = *rc::gen::inRange(-200, 200), m = *rc::gen::inRange(-200, 200);
    RC_ASSERT(then(a.power(k), a.power(m)) == a.power(k + m));
    RC_ASSERT(a.power(1) == a);
    RC_ASSERT(a.power(-1) == a.inverse());
    RC_ASSERT(a.power(a.order()).is_identity());
    for (int d = 1; d < a.order(); ++d) RC_ASSERT(!a.power(d).is_identity());
  }));
  EXPECT_EQ(cycles("(1 2 3)").power(std::numeric_limits<std::int64_t>::min()),
            cycles("(1 2 3)").power(1));  // -2^63 = 1 mod 3
}

TEST(Permutation, SignIsTheParityOfInversionsAndMultiplies) {
  EXPECT_TRUE(rc::check([] {
    const Permutation a = any_permutation(), b = any_permutation();
    int inversions = 0;
    for (int i = 0; i < kMaxPoints; ++i)
      for (int j = i + 1; j < kMaxPoints; ++j) inversions += a(i) > a(j);
    RC_ASSERT(a.is_even() == (inversions % 2 == 0));
    RC_ASSERT(then(a, b).sign() == a.sign() * b.sign());
  }));
}

TEST(Permutation, RankCountsInLexicographicOrder) {
  std::vector<int> images{0, 1, 2, 3, 4, 5};
  std::uint64_t rank = 0;
  do {
    const Permutation p = Permutation::from_images(images);
    EXPECT_EQ(p.rank(6), rank);
    EXPECT_EQ(Permutation::unrank(6, rank), p);
    if (rank > 0) {
      EXPECT_LT(Permutation::unrank(6, rank - 1), p);
    }
    ++rank;
  } while (std::next_permutation(images.begin(), images.end()));
  EXPECT_EQ(rank, 720u);
  EXPECT_TRUE(Permutation::unrank(0, 0).is_identity());
  const std::uint64_t last = factorial(16) - 1;  // 16! = 20922789888000
  EXPECT_EQ(last, 20922789887999u);
  EXPECT_EQ(Permutation::unrank(16, last).rank(16), last);
  EXPECT_EQ(Permutation::unrank(16, last)(0), 15);
  EXPECT_TRUE(rc::check([] {
    const std::vector<int> some = any_images();
    const int n = static_cast<int>(some.size());
    const Permutation p = Permutation::from_images(some);
    RC_ASSERT(Permutation::unrank(n, p.rank(n)) == p);
  }));
}

TEST(Permutation, CyclesReadAndWrite) {
  EXPECT_EQ(cycles("(1 2 3)(4 5)").images(5), (std::vector<int>{1, 2, 0, 4, 3}));
  EXPECT_EQ(cycles(" ( 1,2 , 3 ) (4,5) "), cycles("(1 2 3)(4 5)"));
  EXPECT_EQ(cycles("(5 4)(3 1 2)").to_cycles(), "(1 2 3)(4 5)");
  EXPECT_EQ(cycles("()").to_cycles(), "()");
  EXPECT_EQ(cycles("(3)(16 1)").to_cycles(), "(1 16)");
  EXPECT_TRUE(rc::check([] {
    const Permutation p = any_permutation();
    RC_ASSERT(Permutation::from_cycles(p.to_cycles()) == p);
  }));
}

TEST(Permutation, BadTextIsRefusedWithItsPlace) {
  const auto refusal = [](const char* text) {
    return message_of([&] { Permutation::from_cycles(text); });
  };
  EXPECT_THAT(refusal(""), HasSubstr("at character 1: a permutation must be written as cycles"));
  EXPECT_THAT(refusal("1 2"), HasSubstr("at character 1: a cycle must start with \"(\""));
  EXPECT_THAT(refusal("(1 2"), HasSubstr("at character 5: a cycle must hold points"));
  EXPECT_THAT(refusal("(1 17)"), HasSubstr("at character 4: a point must be between 1 and 16"));
  EXPECT_THAT(refusal("(0 1)"), HasSubstr("at character 2: a point must be between 1 and 16"));
  EXPECT_THAT(refusal("(1 99999999999999999999)"), HasSubstr("at character 4"));
  EXPECT_THAT(refusal("(1 2)(2 3)"), HasSubstr("at character 7: cycles must be disjoint, but the "
                                               "point 2 occurs twice"));
  EXPECT_THAT(refusal("(1 2,)"), HasSubstr("at character 6: a point must follow the comma"));
  EXPECT_THAT(refusal("(1 2) x"), HasSubstr("at character 7: a cycle must start"));
}

TEST(Permutation, BadImagesAndRanksAreRefused) {
  const auto refusal = [](std::vector<int> images) {
    return message_of([&] { Permutation::from_images(images); });
  };
  EXPECT_THAT(refusal({0, 0}), HasSubstr("0 occurs twice"));
  EXPECT_THAT(refusal({0, 2}), HasSubstr("between 0 and 1, but point 1 has 2"));
  EXPECT_THAT(refusal({-1}), HasSubstr("point 0 has -1"));
  EXPECT_THAT(refusal(std::vector<int>(17)), HasSubstr("at most 16 points, not 17"));
  EXPECT_THAT(message_of([] { Permutation::unrank(3, 6); }), HasSubstr("below 6, not 6"));
  EXPECT_THAT(message_of([] { Permutation::unrank(17, 0); }), HasSubstr("not 17"));
  EXPECT_THAT(message_of([] { (void)cycles("(1 4)").rank(3); }), HasSubstr("moves the point 4"));
  EXPECT_THAT(message_of([] { (void)cycles("(1 4)").cycle_type(3); }), HasSubstr("no cycle type"));
  EXPECT_THAT(message_of([] { (void)cycles("(1 4)").shifted(13); }), HasSubstr("only 16"));
  EXPECT_THAT(message_of([] { parse_multiplication("up"); }), HasSubstr("\"right\" or \"left\""));
}

TEST(Permutation, CycleTypeAndOrderAreThoseOfTheCycles) {
  const Permutation p = cycles("(1 2)(3 4 5)(7 8 9 10 11)");
  EXPECT_THAT(p.cycle_type(12), ElementsAre(5, 3, 2, 1, 1));
  EXPECT_EQ(p.order(), 30);
  EXPECT_EQ(p.sign(), -1);
  EXPECT_EQ(Permutation().order(), 1);
  EXPECT_THAT(Permutation().cycle_type(3), ElementsAre(1, 1, 1));
  // The largest order of 16 points is Landau's g(16) = 140.
  EXPECT_EQ(cycles("(1 2 3 4)(5 6 7 8 9)(10 11 12 13 14 15 16)").order(), 140);
  EXPECT_TRUE(rc::check([] {  // conjugation keeps the type
    const Permutation a = any_permutation(), b = any_permutation();
    RC_ASSERT(then(then(b.inverse(), a), b).cycle_type(16) == a.cycle_type(16));
  }));
}

// Published: the derangements of n points (OEIS A000166).
TEST(Permutation, DerangementsNumberAsPublished) {
  const std::vector<int> published{1, 0, 1, 2, 9, 44, 265, 1854, 14833};
  for (int n = 1; n <= 8; ++n) {
    int count = 0;
    for (std::uint64_t r = 0; r < factorial(n); ++r) {
      const Permutation p = Permutation::unrank(n, r);
      bool fixes = false;
      for (int i = 0; i < n; ++i) fixes = fixes || p(i) == i;
      count += !fixes;
    }
    EXPECT_EQ(count, published[static_cast<std::size_t>(n)]) << n;
  }
}

TEST(Permutation, HashesDifferWhereRanksDo) {
  std::unordered_set<Permutation> all;
  std::set<std::size_t> hashes;
  for (std::uint64_t r = 0; r < 5040; ++r) {
    all.insert(Permutation::unrank(7, r));
    hashes.insert(std::hash<Permutation>()(Permutation::unrank(7, r)));
  }
  EXPECT_EQ(all.size(), 5040u);
  EXPECT_EQ(hashes.size(), 5040u);
}

// `a, b, c = c, a, b` is targets 0 1 2, sources 2 0 1.
TEST(Assignment, DoesWhatPythonDoes) {
  const std::vector<int> targets{0, 1, 2}, sources{2, 0, 1};
  const Permutation s = assignment(targets, sources);
  EXPECT_EQ(execute(s, std::vector<char>{'x', 'y', 'z'}), (std::vector<char>{'z', 'x', 'y'}));
  // The order of the pairs does not matter, and variables that are not named keep their values.
  const std::vector<int> t2{3, 1}, s2{1, 3};
  EXPECT_EQ(execute(assignment(t2, s2), std::vector<int>{10, 11, 12, 13}),
            (std::vector<int>{10, 13, 12, 11}));
}

TEST(Assignment, OneStatementAfterAnotherIsRightMultiplication) {
  EXPECT_TRUE(rc::check([] {
    const Permutation first = any_permutation(), second = any_permutation();
    std::vector<int> state(kMaxPoints);
    std::iota(state.begin(), state.end(), 100);
    RC_ASSERT(execute(second, execute(first, state)) ==
              execute(product(first, second, Multiplication::kRight), state));
    // Followed as "value at v moves to", the same statements multiply on the left.
    RC_ASSERT(product(first, second, Multiplication::kRight).inverse() ==
              product(first.inverse(), second.inverse(), Multiplication::kLeft));
  }));
}

TEST(Assignment, MustPermute) {
  const auto refusal = [](std::vector<int> targets, std::vector<int> sources) {
    return message_of([&] { assignment(targets, sources); });
  };
  EXPECT_THAT(refusal({0, 1}, {0}), HasSubstr("as many sources as targets, not 1 and 2"));
  EXPECT_THAT(refusal({0, 1}, {0, 0}), HasSubstr("the same variables, once each"));
  EXPECT_THAT(refusal({0, 0}, {0, 0}), HasSubstr("the same variables, once each"));
  EXPECT_THAT(refusal({0, 1}, {1, 2}), HasSubstr("the same variables, once each"));
  EXPECT_THAT(refusal({16}, {16}), HasSubstr("between 0 and 15, not 16"));
}

}  // namespace
}  // namespace shellgame
