// Index tables for small order spaces: where each order comes from under a permutation.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "shellgame/groups/acts.h"
#include "shellgame/groups/permutation.h"
#include "shellgame/programs/program.h"

namespace shellgame {

// An outcome of a shuffle as the permutation that Acts speaks of.
Permutation acting(const Permute& outcome, Acts acts);

// Where an order goes, and where it came from.
Permutation moved(Permutation order, Permutation s, Acts acts);

using IndexTable = std::vector<std::uint32_t>;
// table[r] = rank of the order that s takes to the order of rank r. Tables of up to 6 variables are
// made once and shared by all threads. n <= 10.
std::shared_ptr<const IndexTable> predecessors(int n, Permutation s, Acts acts);

}  // namespace shellgame
