// Tiles of a vector over S_n: the states that agree in all variables outside a set W. If W has m
// variables, and among them the last r, a tile is m!/r! runs of r! neighbours, and its states, in
// order, are those of S_m. For the files of permutation_vector.h only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "shellgame/groups/permutation.h"
#include "shellgame/passes/arrangements.h"

namespace shellgame {

class Tiles {
 public:
  // `variables` is the bit set W, and contains the last `run_variables` of the n.
  Tiles(int n, unsigned variables, int run_variables);

  std::size_t run() const { return run_; }    // entries of a run
  std::size_t runs() const { return runs_; }  // runs of a tile
  // The variables outside W and inside it, from the left.
  const std::vector<int>& fixed() const { return fixed_; }
  const std::vector<int>& free() const { return free_; }

  // Where the runs start, for the values that `places` gives to the fixed variables; `left` is the
  // set of the others.
  void find_runs(const Places& places, unsigned left, std::size_t* starts) const;

 private:
  int n_;
  std::size_t run_, runs_ = 1;
  std::vector<int> fixed_, free_;
  int scattered_;                       // free variables before the last r
  std::vector<std::size_t> weight_;     // of a variable's digit in the rank, (n - 1 - v)!
  std::vector<std::size_t> own_start_;  // by run: what its own digits give
  std::vector<std::uint8_t> ranks_;     // by run and scattered variable: which of the tile's values
};

// The rank of the list of m different values below m.
std::size_t rank_of(int m, const Places& list);
// All of S_r in order, r <= 5: value i of list t is at t * r + i.
const std::vector<std::uint8_t>& all_lists(int r);

// A permutation's table over S_m: which entry of the source comes to each place.
using Table = std::vector<std::uint16_t>;

// By position: place[a] of the result is place[sigma(a)] of the source; m <= 8. Kept for later
// calls.
std::shared_ptr<const Table> position_table(int m, Permutation sigma);

// By value, for all of S_r, r <= 5, one row for each pi (by its rank): the source of a list p is
// the list pi(p[0]), pi(p[1]), ...
const Table& value_tables(int r);

}  // namespace shellgame
