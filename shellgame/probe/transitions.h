// What a whole command does to a head's state: the product of its steps, and how near that is to a
// permutation matrix in the basis where it is nearest.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace shellgame {

// The product of (I - beta_t k_t k_t^T) Diag(e^decay_t), the first step rightmost: what is done to
// S [K, V]. keys [T, K], betas [T], decays [T, K] or undefined; all double. Gives [K, K].
at::Tensor composed_transition(const at::Tensor& keys, const at::Tensor& betas,
                               const at::Tensor& decays = {});

// Decays of a head by step and key channel, [T * n, K], from those of all heads [T, H] or
// [T, H, K]: a token's decay acts at the first of its n steps.
at::Tensor step_decays(const at::Tensor& heads, int head, std::int64_t steps, std::int64_t width);

// A basis in which transitions are permutation matrices, as far as there is one: R [K, n] with
// columns that sum to zero, |R| = 1, for which the sum of |A_c R - R P_c|^2 is least; P_c is what
// command c does to the variables. It is the least eigenvector of a matrix of K (n - 1) rows. The
// part R 1 is left out: any direction that no key touches would satisfy it.
at::Tensor permutation_basis(const std::vector<at::Tensor>& transitions,
                             const std::vector<std::vector<std::uint16_t>>& sources);
// The other way round: Q [K, n] for which the sum of |Q^T A_c - P_c Q^T|^2 is least. What can be
// read after a command is then what could be read before, permuted, whatever else the state holds.
at::Tensor reading_basis(const std::vector<at::Tensor>& transitions,
                         const std::vector<std::vector<std::uint16_t>>& sources);
// |A R - R P| / |R|.
double permutation_distance(const at::Tensor& transition, const at::Tensor& basis,
                            const std::vector<std::uint16_t>& sources);
// |Q^T A - P Q^T| / |Q|.
double reading_distance(const at::Tensor& transition, const at::Tensor& basis,
                        const std::vector<std::uint16_t>& sources);
struct PermutationFit {
  double distance = 0;                 // to the nearest permutation matrix P
  std::vector<std::uint16_t> nearest;  // P, as sources
};
PermutationFit nearest_permutation(const at::Tensor& transition, const at::Tensor& basis);

// The order that takes the largest sum of score[v][sources[v]] (n x n, by rows): Kuhn's assignment.
std::vector<std::uint16_t> best_assignment(const std::vector<double>& scores, std::size_t n);

}  // namespace shellgame
