// A stabiliser chain (Schreier-Sims) with the base 0, 1, 2, ...: level i holds the orbit of point i
// under the elements that fix 0..i-1, and for each point of the orbit one element that takes i
// there. It gives the order, membership, and the lexicographic rank of an element without listing a
// group.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "shellgame/groups/permutation.h"

namespace shellgame {

class StabiliserChain {
 public:
  // The group that `generators` generate; they must fix all points from `degree` on.
  StabiliserChain(int degree, const std::vector<Permutation>& generators);

  std::uint64_t order() const { return order_; }
  bool contains(Permutation p) const;
  // The number of elements that are lexicographically smaller than p; nothing if p is no element.
  std::optional<std::uint64_t> rank(Permutation p) const;
  Permutation element(std::uint64_t rank) const;  // rank < order()
  // All elements in lexicographic order, one composition each.
  std::vector<Permutation> elements() const;

 private:
  struct Level {
    unsigned orbit = 0;                        // bit b: some element takes the base point to b
    std::array<Permutation, kMaxPoints> to;    // that element
    std::array<Permutation, kMaxPoints> back;  // its inverse
    std::vector<Permutation> generators;
    std::uint64_t below = 1;  // elements for each point of the orbit
  };
  void insert(int level, Permutation g);
  void extend(int level, Permutation g);
  bool contains_from(int level, Permutation p) const;
  void list(int level, Permutation prefix, std::vector<Permutation>& out) const;

  int degree_;
  std::uint64_t order_ = 1;
  std::array<Level, kMaxPoints> levels_;
};

}  // namespace shellgame
