#include "shellgame/probe/transitions.h"

#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shellgame {
namespace {

TEST(Transitions, TwoReflectionsComposeToTheRotationByTwiceTheirAngle) {
  const double angle = 0.3;
  const at::Tensor keys =
      at::tensor({1.0, 0.0, std::cos(angle), std::sin(angle)}, at::kDouble).view({2, 2});
  const at::Tensor product = composed_transition(keys, at::full({2}, 2.0, at::kDouble));
  EXPECT_NEAR(product[0][0].item<double>(), std::cos(2 * angle), 1e-12);
  EXPECT_NEAR(product[1][0].item<double>(), std::sin(2 * angle), 1e-12);
  EXPECT_NEAR(product[0][1].item<double>(), -std::sin(2 * angle), 1e-12);
}

TEST(Transitions, DecaysActBeforeTheStepOnTheirChannels) {
  const at::Tensor keys = at::tensor({1.0, 0.0}, at::kDouble).view({1, 2});
  const at::Tensor decays = at::tensor({std::log(0.5), std::log(0.25)}, at::kDouble).view({1, 2});
  const at::Tensor product = composed_transition(keys, at::full({1}, 2.0, at::kDouble), decays);
  EXPECT_NEAR(product[0][0].item<double>(), -0.5, 1e-12);
  EXPECT_NEAR(product[1][1].item<double>(), 0.25, 1e-12);
}

TEST(Transitions, TheBestAssignmentIsThatOfAllOrders) {
  at::manual_seed(7);
  for (int round = 0; round < 50; ++round) {
    const at::Tensor scores = at::randn({5, 5}, at::kDouble);
    const std::vector<double> list(scores.data_ptr<double>(), scores.data_ptr<double>() + 25);
    const auto sum_of = [&](const std::vector<std::uint16_t>& sources) {
      double sum = 0;
      for (std::size_t v = 0; v < 5; ++v) sum += list[v * 5 + sources[v]];
      return sum;
    };
    std::vector<std::uint16_t> order(5);
    std::iota(order.begin(), order.end(), std::uint16_t{0});
    double best = -1e9;
    do best = std::max(best, sum_of(order));
    while (std::ranges::next_permutation(order).found);
    EXPECT_NEAR(sum_of(best_assignment(list, 5)), best, 1e-12);
  }
}

// Permutations of 4 in a hidden basis of 7 dimensions, the other 3 being shrunk.
struct Hidden {
  at::Tensor basis = std::get<0>(at::linalg_qr(at::randn({7, 7}, at::kDouble)));
  at::Tensor transition(const std::vector<std::uint16_t>& sources) const {
    at::Tensor matrix = at::zeros({7, 7}, at::kDouble);
    for (std::int64_t v = 0; v < 4; ++v) {
      matrix[v][sources[static_cast<std::size_t>(v)]].fill_(1);
    }
    for (std::int64_t d = 4; d < 7; ++d) matrix[d][d].fill_(0.7);
    return at::matmul(basis, at::matmul(matrix, basis.t()));
  }
};

TEST(Transitions, AHiddenBasisOfPermutationsIsFound) {
  at::manual_seed(7);
  const Hidden hidden;
  const std::vector<std::vector<std::uint16_t>> sources = {
      {1, 0, 2, 3}, {1, 2, 3, 0}, {0, 2, 1, 3}, {3, 1, 2, 0}};
  std::vector<at::Tensor> transitions;
  for (const auto& one : sources) transitions.push_back(hidden.transition(one));
  const at::Tensor basis = permutation_basis(transitions, sources);
  const std::vector<std::uint16_t> other = {2, 0, 3, 1};
  const PermutationFit fit = nearest_permutation(hidden.transition(other), basis);
  EXPECT_EQ(fit.nearest, other);
  EXPECT_LT(fit.distance, 1e-6);
  EXPECT_GT(permutation_distance(hidden.transition(other), basis, sources[0]), 0.9);
  // What forgets all is as far from any as the basis is long.
  EXPECT_GT(nearest_permutation(at::zeros({7, 7}, at::kDouble), basis).distance, 0.9);
}

TEST(Transitions, WhatIsReadIsPermutedWhateverElseIsLeftBehind) {
  at::manual_seed(7);
  // Each transition also leaves something of the old state in directions that nothing reads.
  const Hidden hidden;
  const std::vector<std::vector<std::uint16_t>> sources = {
      {1, 0, 2, 3}, {1, 2, 3, 0}, {0, 2, 1, 3}, {3, 1, 2, 0}, {2, 0, 3, 1}};
  std::vector<at::Tensor> transitions;
  for (const auto& one : sources) {
    at::Tensor rest = at::zeros({7, 7}, at::kDouble);
    rest.narrow(0, 4, 3).copy_(at::randn({3, 7}, at::kDouble));
    transitions.push_back(hidden.transition(one) +
                          at::matmul(hidden.basis, at::matmul(rest, hidden.basis.t())));
  }
  const at::Tensor rows = permutation_basis(transitions, sources);
  const at::Tensor reading = reading_basis(transitions, sources);
  EXPECT_GT(permutation_distance(transitions[3], rows, sources[3]), 0.1);
  EXPECT_LT(reading_distance(transitions[4], reading, sources[4]), 1e-6);
}

}  // namespace
}  // namespace shellgame
