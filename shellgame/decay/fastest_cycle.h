// The cycle of a directed graph with the least ratio of cost to time.
#pragma once

#include <cstdint>
#include <vector>

namespace shellgame {

struct TimedEdge {
  std::uint32_t from = 0, to = 0;
  double cost = 0;  // at most 0
  double time = 0;  // at least 0
};

// The cycles of the least ratio that have the fewest edges, at most `most` of them, each as the
// numbers of its edges in order; none if no cycle has a cost below zero. A cycle of negative cost
// must take time. (Lawler: a cycle is better than the ratio r if its sum of cost - r time is
// negative, which Bellman and Ford find; then r becomes its ratio, until there is none.)
std::vector<std::vector<std::uint32_t>> fastest_cycles(std::size_t nodes,
                                                       const std::vector<TimedEdge>& edges,
                                                       std::size_t most);

}  // namespace shellgame
