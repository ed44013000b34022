#include "shellgame/passes/permutation_vector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "shellgame/system/threads.h"
#include "shellgame/text/error.h"
#include "tests/support/shortened.h"

namespace shellgame {
namespace {

using Permutations = std::vector<Permutation>;
constexpr Acts kBoth[] = {Acts::kPositions, Acts::kValues};

class Threads {
 public:
  explicit Threads(int count) : before_(thread_count()) { set_thread_count(count); }
  ~Threads() { set_thread_count(before_); }

 private:
  int before_;
};

// Small integers, whose sums are exact.
template <class Real>
std::vector<Real> any_vector(int n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<Real> data(permutation_count(n));
  for (Real& x : data) x = static_cast<Real>(random() % 64);
  return data;
}

Permutation any_permutation(int n, std::mt19937& random) {
  return Permutation::unrank(n, random() % factorial(n));
}

Permutation swap(int i, int j) {
  std::vector<int> images = Permutation().images(kMaxPoints);
  std::swap(images[static_cast<std::size_t>(i)], images[static_cast<std::size_t>(j)]);
  return Permutation::from_images(images);
}

Permutations all_swaps(int n) {
  Permutations swaps;
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) swaps.push_back(swap(i, j));
  return swaps;
}

// Disjoint swaps, at least one (n >= 2).
Permutation any_involution(int n, std::mt19937& random) {
  std::vector<int> points = any_permutation(n, random).images(n), images = Permutation().images(n);
  const std::size_t swaps = 1 + random() % (points.size() / 2);
  for (std::size_t k = 0; k < swaps; ++k) {
    images[static_cast<std::size_t>(points[2 * k])] = points[2 * k + 1];
    images[static_cast<std::size_t>(points[2 * k + 1])] = points[2 * k];
  }
  return Permutation::from_images(images);
}

std::size_t moved_rank(int n, Acts acts, Permutation s, Permutation state) {
  std::vector<int> values = state.images(n);
  if (acts == Acts::kPositions)
    values = execute(s, values);
  else
    for (int& x : values) x = s(x);
  return Permutation::from_images(values).rank(n);
}

template <class Real>
std::vector<Real> plain_mix(int n, Acts acts, const Permutations& outcomes,
                            const std::vector<Real>& weights, const std::vector<Real>& in) {
  std::vector<Real> out(in.size());
  for (std::size_t q = 0; q < in.size(); ++q) {
    const Permutation state = Permutation::unrank(n, q);
    for (std::size_t k = 0; k < outcomes.size(); ++k)
      out[moved_rank(n, acts, outcomes[k], state)] += weights[k] * in[q];
  }
  return out;
}

template <class Real>
std::vector<Real> mixed(int n, Acts acts, const Permutations& outcomes,
                        const std::vector<Real>& weights, const std::vector<Real>& in) {
  std::vector<Real> out(in.size(), std::numeric_limits<Real>::quiet_NaN());
  mix<Real>(n, acts, outcomes, weights, in.data(), out.data());
  return out;
}

template <class Real>
std::vector<Real> mixed_in_place(int n, Acts acts, const Permutations& outcomes,
                                 const std::vector<Real>& weights, std::vector<Real> data) {
  mix_in_place<Real>(n, acts, outcomes, weights, data.data());
  return data;
}

template <class Real>
double plain_reveal(int n, int variable, std::uint32_t allowed, Real factor,
                    std::vector<Real>& data) {
  double sum = 0;
  for (std::size_t q = 0; q < data.size(); ++q) {
    const bool kept = (allowed >> Permutation::unrank(n, q)(variable)) & 1u;
    data[q] = kept ? data[q] * factor : Real{0};
    sum += static_cast<double>(data[q]);
  }
  return sum;
}

template <class Real>
std::vector<double> plain_marginals(int n, const std::vector<Real>& data) {
  std::vector<double> sums(static_cast<std::size_t>(n * n));
  for (std::size_t q = 0; q < data.size(); ++q) {
    const Permutation state = Permutation::unrank(n, q);
    for (int v = 0; v < n; ++v)
      sums[static_cast<std::size_t>(v * n + state(v))] += static_cast<double>(data[q]);
  }
  return sums;
}

TEST(PermutationVector, EverySwapMixesAsThePlainVersionDoes) {
  for (int n = 1; n <= shortened(8, 6); ++n) {
    const auto in = any_vector<double>(n);
    for (const Acts acts : kBoth)
      for (const Permutation s : all_swaps(n)) {
        const Permutations outcomes = {Permutation(), s};
        const std::vector<double> weights = {3, 5};
        const auto expected = plain_mix(n, acts, outcomes, weights, in);
        ASSERT_EQ(mixed(n, acts, outcomes, weights, in), expected) << n << s.to_cycles();
        ASSERT_EQ(mixed_in_place(n, acts, outcomes, weights, in), expected) << n << s.to_cycles();
      }
  }
}

TEST(PermutationVector, AnyMixtureIsAsThePlainVersionHasIt) {
  EXPECT_TRUE(rc::check([] {
    std::mt19937 random(*rc::gen::arbitrary<unsigned>());
    const int n = static_cast<int>(1 + random() % 8);
    const Acts acts = kBoth[random() % 2];
    Permutations outcomes;
    std::vector<float> weights;
    for (unsigned k = 0, count = 1 + random() % 4; k < count; ++k) {
      const bool again = k > 0 && random() % 4 == 0;
      outcomes.push_back(again               ? outcomes[0]
                         : random() % 4 == 0 ? Permutation()
                                             : any_permutation(n, random));
      weights.push_back(static_cast<float>(random() % 8));
    }
    const auto in = any_vector<float>(n, static_cast<unsigned>(random()));
    RC_ASSERT(mixed(n, acts, outcomes, weights, in) == plain_mix(n, acts, outcomes, weights, in));
  }));
}

TEST(PermutationVector, InPlaceIsOutOfPlaceToTheBitForAllInvolutions) {
  EXPECT_TRUE(rc::check([] {
    std::mt19937 random(*rc::gen::arbitrary<unsigned>());
    const int n = static_cast<int>(2 + random() % 7);
    const Acts acts = kBoth[random() % 2];
    Permutations outcomes = {Permutation(), any_involution(n, random)};
    if (random() % 2) std::swap(outcomes[0], outcomes[1]);
    if (random() % 4 == 0) outcomes[0] = outcomes[1];
    RC_ASSERT(can_mix_in_place(outcomes));
    const std::vector<double> weights = {0.3, 0.7};
    auto in = any_vector<double>(n, static_cast<unsigned>(random()));
    for (double& x : in) x /= 7;
    RC_ASSERT(mixed_in_place(n, acts, outcomes, weights, in) ==
              mixed(n, acts, outcomes, weights, in));
  }));
}

TEST(PermutationVector, OnlyTheIdentityAndOneInvolutionMixInPlace) {
  const Permutation one, s = swap(0, 2), cycle = Permutation::from_cycles("(1 2 3)");
  EXPECT_TRUE(can_mix_in_place(Permutations{one}));
  EXPECT_TRUE(can_mix_in_place(Permutations{s}));
  EXPECT_TRUE(can_mix_in_place(Permutations{s, one, s}));
  EXPECT_FALSE(can_mix_in_place(Permutations{}));
  EXPECT_FALSE(can_mix_in_place(Permutations{one, s, swap(0, 1)}));
  EXPECT_FALSE(can_mix_in_place(Permutations{one, cycle}));
  std::vector<double> data(6);
  EXPECT_THROW(mixed_in_place(3, Acts::kValues, {one, cycle}, {0.5, 0.5}, data), UsageError);
}

// Where tiles have more shapes than in small groups; single entries, since the plain version is
// slow.
TEST(PermutationVector, SpotsOfLargeGroupsAreAsThePlainVersionHasThem) {
  std::mt19937 random(7);
  for (const int n : {9, 10}) {
    const auto in = any_vector<float>(n);
    for (int round = 0; round < 16; ++round) {
      const Acts acts = kBoth[round % 2];
      const Permutation s = round < 6    ? all_swaps(n)[random() % all_swaps(n).size()]
                            : round < 10 ? any_involution(n, random)
                                         : any_permutation(n, random);
      const Permutations outcomes = {Permutation(), s};
      const std::vector<float> weights = {3, 5};
      const auto out = mixed(n, acts, outcomes, weights, in);
      if (can_mix_in_place(outcomes)) {
        ASSERT_EQ(mixed_in_place(n, acts, outcomes, weights, in), out);
      }
      for (int spot = 0; spot < 4000; ++spot) {
        const std::size_t q = random() % in.size();
        const std::size_t to = moved_rank(n, acts, s, Permutation::unrank(n, q));
        ASSERT_EQ(out[to], 3 * in[to] + 5 * in[q]) << n << s.to_cycles();
      }
    }
  }
}

TEST(PermutationVector, RevealKeepsWhatIsAllowed) {
  std::mt19937 random(3);
  for (int n = 1; n <= 8; ++n)
    for (int variable = 0; variable < n; ++variable)
      for (int round = 0; round < 6; ++round) {
        const auto some = static_cast<std::uint32_t>(random());
        const std::uint32_t sets[] = {0, ~0u, 1u << (some % static_cast<unsigned>(n)), some};
        const std::uint32_t allowed = sets[std::min(round, 3)];
        const float factor = static_cast<float>(1 + round % 2 * 3);
        auto data = any_vector<float>(n), expected = data;
        const double sum = plain_reveal(n, variable, allowed, factor, expected);
        ASSERT_EQ(reveal(n, variable, allowed, data.data(), factor), sum) << n << ' ' << variable;
        ASSERT_EQ(data, expected) << n << ' ' << variable << ' ' << allowed;
      }
}

// Where the first variables are the same in all of an item.
TEST(PermutationVector, RevealsInLargeGroupsKeepWhatIsAllowed) {
  const int n = 10;
  std::mt19937 random(11);
  const auto before = any_vector<float>(n);
  std::vector<double> sums(n);
  for (int variable = 0; variable < n; ++variable) {
    const int value = static_cast<int>(random() % n);
    auto data = before;
    predict(n, variable, data.data(), sums.data());
    ASSERT_EQ(reveal(n, variable, 1u << value, data.data()), sums[static_cast<std::size_t>(value)]);
    for (int spot = 0; spot < 4000; ++spot) {
      const std::size_t q = random() % data.size();
      const bool kept = Permutation::unrank(n, q)(variable) == value;
      ASSERT_EQ(data[q], kept ? before[q] : 0.0f) << variable << ' ' << q;
    }
  }
}

TEST(PermutationVector, SumsByValueAreAsThePlainVersionHasThem) {
  for (int n = 1; n <= 10; ++n) {
    const auto data = any_vector<float>(n);
    const std::vector<double> expected = plain_marginals(n, data);
    std::vector<double> sums(expected.size(), -1.0);
    marginals(n, data.data(), sums.data());
    ASSERT_EQ(sums, expected) << n;
    std::ranges::fill(sums, -1.0);
    double total = 0;
    for (int v = 0; v < n; ++v) predict(n, v, data.data(), sums.data() + v * n);
    ASSERT_EQ(sums, expected) << n;
    for (int x = 0; x < n; ++x) total += sums[static_cast<std::size_t>(x)];
    ASSERT_EQ(sum(n, data.data()), total);
  }
}

TEST(PermutationVector, ScaleMultipliesEveryEntry) {
  for (const int n : {0, 1, 5, 8}) {
    auto data = any_vector<double>(n), expected = data;
    for (double& x : expected) x *= 0.3;
    scale(n, 0.3, data.data());
    EXPECT_EQ(data, expected);
  }
}

// Sums that are not exact: only a fixed order gives the same bits.
TEST(PermutationVector, TheNumberOfThreadsChangesNoBit) {
  for (const int n : {8, 9}) {
    std::vector<std::vector<double>> seen;
    for (const int threads : {1, 2, 3}) {
      const Threads scope(threads);
      std::mt19937 random(5);
      auto data = any_vector<double>(n);
      for (double& x : data) x = (x + 0.1) / 3;
      std::vector<double> all = {sum(n, data.data())}, sums(static_cast<std::size_t>(n * n));
      for (const Acts acts : kBoth) {
        const Permutations outcomes = {any_permutation(n, random), Permutation(), swap(0, n - 1)};
        data = mixed(n, acts, outcomes, {0.2, 0.5, 0.3}, data);
        data = mixed_in_place(n, acts, {Permutation(), swap(1, n - 2)}, {0.4, 0.6}, data);
      }
      marginals(n, data.data(), sums.data());
      all.insert(all.end(), sums.begin(), sums.end());
      for (int v = 0; v < n; ++v) {
        predict(n, v, data.data(), sums.data());
        all.insert(all.end(), sums.begin(), sums.begin() + n);
        auto copy = data;
        all.push_back(reveal(n, v, 0b1010110u, copy.data(), 0.7));
        all.push_back(sum(n, copy.data()));
      }
      all.insert(all.end(), data.begin(), data.end());
      seen.push_back(std::move(all));
    }
    EXPECT_TRUE(seen[0] == seen[1] && seen[0] == seen[2]) << n;
  }
}

TEST(PermutationVector, WrongUseIsRefused) {
  std::vector<double> data(6), out(6);
  const auto refused = [](const auto& call, const char* part) {
    try {
      call();
      ADD_FAILURE() << part;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(part));
    }
  };
  refused([] { permutation_count(14); }, "between 0 and 13, not 14");
  refused([&] { reveal(3, 3, 1, data.data()); }, "between 0 and 2, not 3");
  refused([&] { mixed<double>(3, Acts::kValues, {swap(0, 3)}, {1.0}, data); }, "(1 4)");
  refused([&] { mixed<double>(3, Acts::kValues, {swap(0, 1)}, {}, data); }, "0 weights for 1");
}

}  // namespace
}  // namespace shellgame
