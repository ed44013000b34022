#include "shellgame/decay/fastest_cycle.h"

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

// A cycle whose sum of cost - r time is negative, or nothing; then `distance` is where no edge can
// shorten a path any more.
std::vector<std::uint32_t> better_than(double r, std::size_t nodes,
                                       const std::vector<TimedEdge>& edges,
                                       std::vector<double>& distance) {
  distance.assign(nodes, 0);
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

// All cycles of one length within the edges that cost nothing at the best ratio, each from its
// smallest node.
class ShortCycles {
 public:
  using Cycles = std::vector<std::vector<std::uint32_t>>;
  ShortCycles(std::vector<std::vector<std::uint32_t>> tight, const std::vector<TimedEdge>& edges,
              std::size_t most)
      : tight_(std::move(tight)), edges_(edges), most_(most) {}

  Cycles of_length(std::size_t length) {
    for (std::uint32_t start = 0; start < tight_.size(); ++start) walk(start, start, length);
    return std::move(found_);
  }

 private:
  void walk(std::uint32_t start, std::uint32_t at, std::size_t left) {
    for (std::uint32_t e : tight_[at]) {
      if (found_.size() >= most_ || ++steps_ > kMostSteps) return;
      const std::uint32_t to = edges_[e].to;
      if (left == 1 ? to != start : to <= start) continue;
      path_.push_back(e);
      if (left > 1) {
        walk(start, to, left - 1);
      } else if (ratio(path_, edges_) < 0) {
        found_.push_back(path_);
      }
      path_.pop_back();
    }
  }

  static constexpr std::size_t kMostSteps = 20'000'000;
  std::vector<std::vector<std::uint32_t>> tight_;  // of each node
  const std::vector<TimedEdge>& edges_;
  std::size_t most_, steps_ = 0;
  std::vector<std::uint32_t> path_;
  Cycles found_;
};

}  // namespace

std::vector<std::vector<std::uint32_t>> fastest_cycles(std::size_t nodes,
                                                       const std::vector<TimedEdge>& edges,
                                                       std::size_t most) {
  std::vector<std::uint32_t> best;
  std::vector<double> distance;
  double r = 0;
  for (;;) {
    std::vector<std::uint32_t> cycle = better_than(r, nodes, edges, distance);
    if (cycle.empty() || !(ratio(cycle, edges) < r - kSlack)) break;
    r = ratio(cycle, edges);
    best = std::move(cycle);
  }
  if (best.empty()) return {};
  std::vector<std::vector<std::uint32_t>> tight(nodes);
  for (std::uint32_t e = 0; e < edges.size(); ++e) {
    const TimedEdge& edge = edges[e];
    const double slack = distance[edge.from] + edge.cost - r * edge.time - distance[edge.to];
    if (slack < 1e-9) tight[edge.from].push_back(e);
  }
  for (std::size_t length = 1; length <= best.size(); ++length) {
    auto found = ShortCycles(tight, edges, most).of_length(length);
    std::erase_if(found, [&](const auto& cycle) { return ratio(cycle, edges) > r + 1e-9; });
    if (!found.empty()) return found;
  }
  return {best};
}

}  // namespace shellgame
