// check_group_laws(group): what must hold in every group, in one call. A new group needs no test of
// its own beyond this and its published order.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "shellgame/groups/group.h"

namespace shellgame {

inline void check_group_laws(const Group& group) {
  SCOPED_TRACE(group.name());
  const std::uint64_t order = group.order();
  ASSERT_GE(order, 1u);
  EXPECT_EQ(factorial(group.degree()) % order, 0u);  // Lagrange, in S_degree
  EXPECT_TRUE(group.element(0).is_identity());
  for (const Permutation g : group.generators()) EXPECT_TRUE(group.contains(g));

  // All elements of a small group, else a sample.
  constexpr std::uint64_t kAll = 120;
  std::vector<Permutation> some;
  RandomStream stream(7, 0);
  for (std::uint64_t i = 0; i < std::min(order, kAll); ++i)
    some.push_back(order <= kAll ? group.element(i) : group.sample(stream));

  for (const Permutation a : some) {
    const std::uint64_t index = group.index_of(a);
    ASSERT_LT(index, order);
    EXPECT_EQ(group.element(index), a);
    if (index + 1 < order) {
      EXPECT_LT(a, group.element(index + 1));  // the promised order
    }
    EXPECT_LE(a.moved_points(), group.degree());
    EXPECT_EQ(order % static_cast<std::uint64_t>(a.order()), 0u);
    EXPECT_EQ(then(a, Permutation()), a);
    EXPECT_EQ(then(Permutation(), a), a);
    EXPECT_TRUE(group.contains(a.inverse()));
    EXPECT_TRUE(then(a, a.inverse()).is_identity());
    EXPECT_TRUE(then(a.inverse(), a).is_identity());
  }
  std::uint64_t commuting = 0;
  for (const Permutation a : some)
    for (const Permutation b : some) {
      ASSERT_TRUE(group.contains(product(a, b, Multiplication::kRight)));
      EXPECT_EQ(product(a, b, Multiplication::kRight), product(b, a, Multiplication::kLeft));
      const Permutation c = some[commuting % some.size()];
      EXPECT_EQ(then(then(a, b), c), then(a, then(b, c)));
      commuting += then(a, b) == then(b, a);
    }

  if (order > 10'000) return;
  std::uint64_t in_classes = 0;
  const std::vector<ConjugacyClass> classes = group.conjugacy_classes();
  for (const ConjugacyClass& c : classes) {
    in_classes += c.size;
    EXPECT_EQ(order % c.size, 0u);
  }
  EXPECT_EQ(in_classes, order);
  EXPECT_EQ(group.is_abelian(), classes.size() == order);
  // Burnside: the pairs that commute number |G| times the classes.
  if (order <= kAll) {
    EXPECT_EQ(commuting, order * classes.size());
  }
}

}  // namespace shellgame
