// The tree of all arrangements of `length` out of n values, in lexicographic order, cut into items
// for parallel_for. For the files of permutation_vector.h only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "shellgame/groups/permutation.h"

namespace shellgame {

// The values of a state (or of a part of one), by variable.
using Places = std::array<std::uint8_t, kMaxPoints>;

constexpr std::size_t index(int i) { return static_cast<std::size_t>(i); }

constexpr unsigned all_values(int n) { return (1u << n) - 1u; }

// Without the instruction, which the plainest x86-64 lacks; sets have at most 16 members.
constexpr unsigned size_of_set(unsigned set) {
  set = set - ((set >> 1) & 0x5555u);
  set = (set & 0x3333u) + ((set >> 2) & 0x3333u);
  set = (set + (set >> 4)) & 0x0F0Fu;
  return (set + (set >> 8)) & 0x1Fu;
}
// How many members of the set are below x.
constexpr unsigned rank_in(unsigned set, int x) { return size_of_set(set & ((1u << x) - 1u)); }

// Items of a pass: one for each arrangement of the first `depth` values. They depend on n alone, so
// that sums by item do not depend on the number of threads. 8! entries are some 300 kB.
struct Items {
  Items(int n, int length, int largest = 8) {
    while (depth < length && (depth == 0 ? n >= 8 : n - depth > largest)) {
      count *= static_cast<std::size_t>(n - depth);
      ++depth;
    }
  }
  int depth = 0;
  std::size_t count = 1;
};

// A walk keeps a Node for each level: step(node, level, value, left) gives the node below it, where
// `left` are the values not used before; leaf(node, left) is called at the level `length`.
template <class Node, class Step, class Leaf>
void descend(int level, int length, unsigned left, const Node& node, const Step& step,
             const Leaf& leaf) {
  if (level == length) {
    leaf(node, left);
    return;
  }
  for (unsigned rest = left; rest != 0; rest &= rest - 1) {
    const int value = __builtin_ctz(rest);
    descend(level + 1, length, left & ~(1u << value), step(node, level, value, left), step, leaf);
  }
}

// Walks the part of the tree that is item `item`.
template <class Node, class Step, class Leaf>
void walk(int n, int length, const Items& items, std::size_t item, Node node, const Step& step,
          const Leaf& leaf) {
  std::size_t below = items.count;
  unsigned left = all_values(n);
  for (int level = 0; level < items.depth; ++level) {
    below /= static_cast<std::size_t>(n - level);
    unsigned rest = left;
    for (std::size_t skip = item / below; skip > 0; --skip) rest &= rest - 1;
    item %= below;
    const int value = __builtin_ctz(rest);
    node = step(node, level, value, left);
    left &= ~(1u << value);
  }
  descend(items.depth, length, left, node, step, leaf);
}

}  // namespace shellgame
