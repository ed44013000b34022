// `shellgame probe keys`: how many directions a head's keys have, what its steps and whole commands
// do to the state (their spectra), and how near a command's transition is to a permutation matrix.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "shellgame/probe/heads.h"

namespace shellgame {

struct PrincipalParts {
  std::vector<double> explained;  // cumulative share of the variance, component by component
  double effective_rank = 0;      // e^entropy of the shares (Roy and Vetterli 2007)
  std::size_t components(double share) const;  // so many explain at least the share
};
// Of keys [N, K], around their mean.
PrincipalParts principal_parts(const at::Tensor& keys);

// The product of (I - beta_t k_t k_t^T) Diag(e^decay_t), the first step rightmost: what is done to
// S [K, V]. keys [T, K], betas [T], decays [T, K] or undefined; all double. Gives [K, K].
at::Tensor composed_transition(const at::Tensor& keys, const at::Tensor& betas,
                               const at::Tensor& decays = {});

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
struct PermutationFit {
  double distance = 0;                 // to the nearest permutation matrix P
  std::vector<std::uint16_t> nearest;  // P, as sources
};
PermutationFit nearest_permutation(const at::Tensor& transition, const at::Tensor& basis);

// The order that takes the largest sum of score[v][sources[v]] (n x n, by rows): Kuhn's assignment.
std::vector<std::uint16_t> best_assignment(const std::vector<double>& scores, std::size_t n);

// {"heads": [{layer, head, key_width, effective_rank, components_90, components_99, reflecting,
// distance, from_own, read_from_own, permutation, commands, steps: {...}, explained: [...],
// spectrum: [...]}]}. `distance` is that to the nearest permutation (0 for the identity, too),
// `from_own` that to what the command does, `permutation` the share of commands for which both are
// the same: of every second command, while the basis is of the others; null where no command is
// certain. Throws UsageError if no mixer has keys and betas.
nlohmann::ordered_json probe_keys(const Model& model, const std::vector<ProbeTrace>& traces);

}  // namespace shellgame
