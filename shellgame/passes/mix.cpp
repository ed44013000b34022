// mix() and mix_in_place() of permutation_vector.h: a mixture as a sequence of passes.
#include <algorithm>
#include <vector>

#include "shellgame/passes/arrangements.h"
#include "shellgame/passes/pass.h"
#include "shellgame/passes/permutation_vector.h"
#include "shellgame/system/threads.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

template <class Real>
void run_pass(int n, Acts acts, Permutation s, const MixPass<Real>& pass) {
  if (acts == Acts::kPositions)
    move_positions(n, s, pass);
  else
    move_values(n, s, pass);
}

// A mixture without repetitions: equal outcomes are one, with the sum of their weights.
template <class Real>
struct Mixture {
  Mixture(int n, std::span<const Permutation> outcomes, std::span<const Real> weights) {
    permutation_count(n);
    if (outcomes.empty() || outcomes.size() != weights.size())
      wrong_use("A mixture must have a weight for each of its outcomes, not {} weights for {}.",
                weights.size(), outcomes.size());
    for (std::size_t k = 0; k < outcomes.size(); ++k) {
      const Permutation s = outcomes[k];
      if (s.moved_points() > n)
        wrong_use("A mixture over S_{} must move only {} points, but {} is among its outcomes.", n,
                  n, s.to_cycles());
      if (s.is_identity()) {
        has_identity = true;
        identity_weight += weights[k];
        continue;
      }
      const auto known = std::ranges::find(moves, s, &Move::s);
      if (known == moves.end())
        moves.push_back({s, weights[k]});
      else
        known->weight += weights[k];
    }
  }

  struct Move {
    Permutation s;
    Real weight;
  };
  bool has_identity = false;
  Real identity_weight = 0;
  std::vector<Move> moves;
};

template <class Real>
void scaled_copy(int n, Real factor, const Real* in, Real* out) {
  const Items items(n, n);
  const std::size_t size = permutation_count(n) / items.count;
  parallel_for(items.count, [&](std::size_t item) {
    const Real* from = in + item * size;
    Real* to = out + item * size;
#pragma GCC ivdep
    for (std::size_t t = 0; t < size; ++t) to[t] = factor * from[t];
  });
}

}  // namespace

std::size_t permutation_count(int n) {
  if (n < 0 || n > 13) wrong_use("A vector over S_n must have n between 0 and 13, not {}.", n);
  return factorial(n);
}

template <class Real>
void mix(int n, Acts acts, std::span<const Permutation> outcomes, std::span<const Real> weights,
         const Real* in, Real* out) {
  const Mixture<Real> mixture(n, outcomes, weights);
  if (mixture.moves.empty()) scaled_copy(n, mixture.identity_weight, in, out);
  MixPass<Real> pass{in, mixture.has_identity ? in : nullptr, mixture.identity_weight, 0, out};
  for (const auto& move : mixture.moves) {
    pass.weight = move.weight;
    run_pass(n, acts, move.s, pass);
    pass.own = out;  // the others add to it
    pass.own_weight = 1;
  }
}

bool can_mix_in_place(std::span<const Permutation> outcomes) {
  Permutation moves;
  for (const Permutation s : outcomes) {
    if (s.is_identity()) continue;
    if (!is_involution(s) || !(moves.is_identity() || moves == s)) return false;
    moves = s;
  }
  return !outcomes.empty();
}

template <class Real>
void mix_in_place(int n, Acts acts, std::span<const Permutation> outcomes,
                  std::span<const Real> weights, Real* data) {
  const Mixture<Real> mixture(n, outcomes, weights);
  if (!can_mix_in_place(outcomes))
    wrong_use("A mixture in place must have the identity and one involution as its outcomes.");
  if (mixture.moves.empty())
    scaled_copy(n, mixture.identity_weight, data, data);
  else
    run_pass(n, acts, mixture.moves[0].s,
             MixPass<Real>{data, data, mixture.identity_weight, mixture.moves[0].weight, data});
}

template void mix(int, Acts, std::span<const Permutation>, std::span<const float>, const float*,
                  float*);
template void mix(int, Acts, std::span<const Permutation>, std::span<const double>, const double*,
                  double*);
template void mix_in_place(int, Acts, std::span<const Permutation>, std::span<const float>, float*);
template void mix_in_place(int, Acts, std::span<const Permutation>, std::span<const double>,
                           double*);

}  // namespace shellgame
