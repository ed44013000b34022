#include "shellgame/beliefs/fastest_cycle.h"

#include <algorithm>

namespace shellgame {
namespace {

constexpr double kSlack = 1e-11;
constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);

double ratio(const std::vector<std::uint32_t>& cycle, const std::vector<TimedEdge>& edges) {
  double cost = 0, time = 0;
  for (std::uint32_t e : cycle) {
    cost += edges[e].cost;
    time += edges[e].time;
  }
  return time > 0 ? cost / time : 0;
}

// The best cycle among the edges by which each node was reached.
std::vector<std::uint32_t> cycle_of_parents(const std::vector<std::uint32_t>& parent,
                                            const std::vector<TimedEdge>& edges) {
  std::vector<std::uint32_t> seen(parent.size(), kNone), best;
  for (std::uint32_t start = 0; start < parent.size(); ++start) {
    std::uint32_t at = start;
    while (at != kNone && seen[at] == kNone) {
      seen[at] = start;
      at = parent[at] == kNone ? kNone : edges[parent[at]].from;
    }
    if (at == kNone || seen[at] != start) continue;
    std::vector<std::uint32_t> cycle;
    const std::uint32_t first = at;
    do {
      cycle.push_back(parent[at]);
      at = edges[parent[at]].from;
    } while (at != first);
    std::ranges::reverse(cycle);
    if (best.empty() || ratio(cycle, edges) < ratio(best, edges)) best = std::move(cycle);
  }
  return best;
}

// A cycle whose sum of cost - r time is negative, or nothing.
std::vector<std::uint32_t> better_than(double r, std::size_t nodes,
                                       const std::vector<TimedEdge>& edges) {
  std::vector<double> distance(nodes);
  std::vector<std::uint32_t> parent(nodes, kNone);
  for (std::size_t round = 0; round <= nodes; ++round) {
    bool changed = false;
    for (std::uint32_t e = 0; e < edges.size(); ++e) {
      const TimedEdge& edge = edges[e];
      const double through = distance[edge.from] + edge.cost - r * edge.time;
      if (through < distance[edge.to] - kSlack) {
        distance[edge.to] = through;
        parent[edge.to] = e;
        changed = true;
      }
    }
    if (!changed) return {};
    std::vector<std::uint32_t> cycle = cycle_of_parents(parent, edges);
    if (!cycle.empty()) return cycle;
  }
  return {};
}

}  // namespace

std::vector<std::uint32_t> fastest_cycle(std::size_t nodes, const std::vector<TimedEdge>& edges) {
  std::vector<std::uint32_t> best;
  for (double r = 0;;) {
    std::vector<std::uint32_t> cycle = better_than(r, nodes, edges);
    if (cycle.empty() || !(ratio(cycle, edges) < r - kSlack)) return best;
    r = ratio(cycle, edges);
    best = std::move(cycle);
  }
}

}  // namespace shellgame
