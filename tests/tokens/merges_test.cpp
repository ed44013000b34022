#include "shellgame/tokens/merges.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace shellgame {
namespace {

using Ids = std::vector<std::uint32_t>;

Ids merged(const Merges& merges, const Ids& ids) {
  std::vector<MergeSymbol> symbols;
  for (std::size_t i = 0; i < ids.size(); ++i)
    symbols.push_back({ids[i], static_cast<std::uint32_t>(i)});
  merges.apply(symbols);
  Ids result;
  for (const MergeSymbol& symbol : symbols) result.push_back(symbol.id);
  return result;
}

TEST(Merges, LowestRankGoesFirstAndOfEqualsTheLeftmost) {
  Merges merges(3);
  merges.add(1, 2, 1, 10);
  merges.add(2, 3, 0, 11);
  merges.add(4, 4, 2, 12);
  EXPECT_EQ(merged(merges, {1, 2, 3}), (Ids{1, 11}));
  EXPECT_EQ(merged(merges, {1, 2, 2, 3}), (Ids{10, 11}));
  EXPECT_EQ(merged(merges, {4, 4, 4}), (Ids{12, 4}));
  EXPECT_EQ(merged(merges, {}), Ids{});
  EXPECT_EQ(merged(merges, {9}), Ids{9});
}

TEST(Merges, ALaterMergeOfThePairReplacesTheEarlier) {
  Merges merges(3);
  merges.add(1, 2, 0, 10);
  merges.add(2, 3, 1, 11);
  merges.add(1, 2, 2, 10);
  EXPECT_EQ(merged(merges, {1, 2, 3}), (Ids{1, 11}));
}

struct Rule {
  std::uint32_t rank, result;
};
using Rules = std::map<std::pair<std::uint32_t, std::uint32_t>, Rule>;

// The rule as it is said, from the start again for every merge.
Ids plain(const Rules& rules, Ids ids) {
  for (;;) {
    const Rule* best = nullptr;
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto rule = rules.find({ids[i], ids[i + 1]});
      if (rule == rules.end() || (best != nullptr && rule->second.rank >= best->rank)) continue;
      best = &rule->second;
      place = i;
    }
    if (best == nullptr) return ids;
    ids[place] = best->result;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

TEST(Merges, ShortAndLongPiecesFollowThePlainRule) {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    Rules rules;
    std::uint32_t known = 4;
    for (std::uint32_t rank = 0; rank < 60; ++rank) {
      const auto left = static_cast<std::uint32_t>(random() % known);
      const auto right = static_cast<std::uint32_t>(random() % known);
      if (rules.emplace(std::pair{left, right}, Rule{rank, known}).second) ++known;
    }
    Merges merges(rules.size());
    for (const auto& [pair, rule] : rules)
      merges.add(pair.first, pair.second, rule.rank, rule.result);
    for (const std::size_t length : {2u, 3u, 17u, 63u, 64u, 65u, 66u, 300u}) {
      Ids ids;
      for (std::size_t i = 0; i < length; ++i)
        ids.push_back(static_cast<std::uint32_t>(random() % 4));
      ASSERT_EQ(merged(merges, ids), plain(rules, ids)) << length;
    }
  }
}

TEST(Merges, ASymbolBeginsWhereItsFirstPartBegins) {
  Merges merges(1);
  merges.add(1, 1, 0, 2);
  std::vector<MergeSymbol> symbols = {{3, 0}, {1, 4}, {1, 7}, {1, 9}};
  merges.apply(symbols);
  ASSERT_EQ(symbols.size(), 3u);
  EXPECT_EQ(symbols[1].id, 2u);
  EXPECT_EQ(symbols[1].start, 4u);
  EXPECT_EQ(symbols[2].start, 9u);
}

}  // namespace
}  // namespace shellgame
