#include "shellgame/beliefs/orders.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>

#include "shellgame/automata/automaton.h"

namespace shellgame {
namespace {

constexpr int kMostShared = 6;

// Calls visit(rank, order) for all orders, in their order.
IndexTable make_table(int n, Permutation inverse, Acts acts) {
  IndexTable table;
  table.reserve(factorial(n));
  std::array<int, kMaxPoints> order{};
  for (int v = 0; v < n; ++v) order[static_cast<std::size_t>(v)] = v;
  const auto end = order.begin() + n;
  do {
    table.push_back(static_cast<std::uint32_t>(
        moved(Permutation::from_images(std::span(order.data(), static_cast<std::size_t>(n))),
              inverse, acts)
            .rank(n)));
  } while (std::next_permutation(order.begin(), end));
  return table;
}

}  // namespace

Permutation acting(const Permute& outcome, Acts acts) {
  const Permutation statement = to_permutation(outcome);
  return acts == Acts::kPositions ? statement : statement.inverse();
}

Permutation moved(Permutation order, Permutation s, Acts acts) {
  return acts == Acts::kPositions ? then(s, order) : then(order, s);
}

std::shared_ptr<const IndexTable> predecessors(int n, Permutation s, Acts acts) {
  if (n > kMostShared) return std::make_shared<IndexTable>(make_table(n, s.inverse(), acts));
  static std::mutex mutex;
  static std::array<std::unordered_map<Permutation, std::shared_ptr<const IndexTable>>,
                    2 * (kMostShared + 1)>
      tables;
  const std::scoped_lock lock(mutex);
  auto& table = tables[static_cast<std::size_t>(2 * n + (acts == Acts::kValues ? 1 : 0))][s];
  if (!table) table = std::make_shared<IndexTable>(make_table(n, s.inverse(), acts));
  return table;
}

}  // namespace shellgame
