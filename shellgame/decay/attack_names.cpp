// Canonical names of situations: of all relabellings that keep the alphabet, the one whose list of
// orders (and column) comes first. One possible order, the base, is made the identity, which fixes
// the values' names once the variables' are chosen; signatures of variables leave few to try.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "shellgame/decay/attack_game.h"

namespace shellgame {
namespace {

std::uint64_t mix_bits(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9u;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

using Signatures = std::array<std::uint64_t, AttackGame::kMostVariables>;

// The length of each point's cycle.
std::array<int, AttackGame::kMostVariables> cycle_lengths(Permutation p, int n) {
  std::array<int, AttackGame::kMostVariables> lengths{};
  for (int v = 0; v < n; ++v) {
    if (lengths[static_cast<std::size_t>(v)] != 0) continue;
    int length = 1;
    for (int w = p(v); w != v; w = p(w)) ++length;
    lengths[static_cast<std::size_t>(v)] = length;
    for (int w = p(v); w != v; w = p(w)) lengths[static_cast<std::size_t>(w)] = length;
  }
  return lengths;
}

}  // namespace

std::vector<std::uint64_t> AttackGame::form(const Situation& situation, Permutation base,
                                            Permutation positions) const {
  const Permutation values = after(positions, base.inverse()), back = positions.inverse();
  std::vector<std::pair<std::uint64_t, std::int64_t>> orders;
  for (const auto& [order, mass] : situation.orders)
    orders.emplace_back(after(values, after(order, back)).bits(), rounded(mass));
  std::ranges::sort(orders);
  std::vector<std::uint64_t> result;
  for (const auto& [bits, mass] : orders) {
    result.push_back(bits);
    result.push_back(static_cast<std::uint64_t>(mass));
  }
  for (std::size_t v = 0; v < situation.column.size(); ++v)
    result.push_back(static_cast<std::uint64_t>(
        rounded(situation.column[static_cast<std::size_t>(back(static_cast<int>(v)))])));
  if (!situation.column.empty())
    result.push_back(static_cast<std::uint64_t>(values(situation.target)));
  return result;
}

Relabelling AttackGame::canonicalise(Situation& situation) const {
  const auto n = static_cast<std::size_t>(n_);
  // 1. Bases that every relabelling would choose: the likeliest order, or one that has the target
  // where its column is heaviest.
  const auto weight = [&](const std::pair<Permutation, double>& entry) {
    if (situation.column.empty()) return rounded(entry.second);
    return rounded(
        situation.column[static_cast<std::size_t>(entry.first.inverse()(situation.target))]);
  };
  std::int64_t heaviest = std::numeric_limits<std::int64_t>::min();
  for (const auto& entry : situation.orders) heaviest = std::max(heaviest, weight(entry));
  // 2. Signatures of the variables seen from each base; bases with the first sum of them stay.
  std::vector<std::pair<Permutation, Signatures>> bases;
  std::uint64_t first_sum = std::numeric_limits<std::uint64_t>::max();
  for (const auto& entry : situation.orders) {
    if (weight(entry) != heaviest) continue;
    Signatures signatures{};
    const Permutation back = entry.first.inverse();
    for (const auto& [order, mass] : situation.orders) {
      const auto lengths = cycle_lengths(after(back, order), n_);
      const std::uint64_t seed = mix_bits(static_cast<std::uint64_t>(rounded(mass)) + 17);
      for (std::size_t v = 0; v < n; ++v)
        signatures[v] += mix_bits(seed + static_cast<std::uint64_t>(lengths[v]));
    }
    std::uint64_t sum = 0;
    for (std::size_t v = 0; v < n; ++v) {
      if (!situation.column.empty()) {
        signatures[v] += mix_bits(static_cast<std::uint64_t>(rounded(situation.column[v])) + 91);
        if (entry.first(static_cast<int>(v)) == situation.target) signatures[v] += mix_bits(7);
      }
      sum += mix_bits(signatures[v]);
    }
    if (sum > first_sum) continue;
    if (sum < first_sum) bases.clear();
    first_sum = sum;
    bases.emplace_back(entry.first, signatures);
  }
  // 3. Of the symmetries that sort the signatures first, the one whose form comes first.
  Signatures first{};
  first.fill(std::numeric_limits<std::uint64_t>::max());
  std::vector<std::uint64_t> first_form;
  Relabelling chosen;
  for (const auto& [base, signatures] : bases) {
    for (Permutation positions : symmetries_) {
      Signatures placed{};
      for (std::size_t v = 0; v < n; ++v)
        placed[static_cast<std::size_t>(positions(static_cast<int>(v)))] = signatures[v];
      for (std::size_t v = n; v < placed.size(); ++v) placed[v] = first[v];
      if (placed > first) continue;
      std::vector<std::uint64_t> candidate = form(situation, base, positions);
      if (placed == first && !(candidate < first_form)) continue;
      first = placed;
      first_form = std::move(candidate);
      chosen = {positions, after(positions, base.inverse())};
    }
  }
  // 4. The situation under these names.
  const Permutation back = chosen.positions.inverse();
  for (auto& [order, mass] : situation.orders) order = after(chosen.values, after(order, back));
  std::ranges::sort(situation.orders);
  if (!situation.column.empty()) {
    const std::vector<double> old = situation.column;
    for (std::size_t v = 0; v < n; ++v)
      situation.column[v] = old[static_cast<std::size_t>(back(static_cast<int>(v)))];
    situation.target = chosen.values(situation.target);
  }
  return chosen;
}

std::string AttackGame::key(const Situation& situation) const {
  const std::vector<std::uint64_t> words = form(situation, Permutation(), Permutation());
  std::string bytes(words.size() * sizeof(std::uint64_t), '\0');
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

}  // namespace shellgame
