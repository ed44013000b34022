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

// {"heads": [{layer, head, key_width, effective_rank, components_90, components_99, reflecting,
// distance, from_own, read_from_own, permutation, commands, steps: {...}, explained: [...],
// spectrum: [...]}]}. `distance` is that to the nearest permutation (0 for the identity, too),
// `from_own` that to what the command does, `permutation` the share of commands for which both are
// the same: of every second command, while the basis is of the others; null where no command is
// certain. Throws UsageError if no mixer has keys and betas.
nlohmann::ordered_json probe_keys(const Model& model, const std::vector<WholeEpisode>& traces);

}  // namespace shellgame
