#include "shellgame/tokens/merges.h"

#include <array>
#include <queue>
#include <tuple>

namespace shellgame {
namespace {

constexpr std::size_t kShort = 64;

std::uint64_t pair_of(std::uint32_t left, std::uint32_t right) {
  return (std::uint64_t{left} << 32) | right;
}

}  // namespace

Merges::Merges(std::size_t expected) {
  std::size_t size = 16;
  while (size < expected + expected / 2) size *= 2;
  slots_.resize(size);
}

// The slot that holds the pair, or the free one where it would go.
std::size_t Merges::slot_of(std::uint64_t pair) const {
  const std::size_t mask = slots_.size() - 1;
  std::uint64_t hash = pair * 0x9E3779B97F4A7C15u;
  std::size_t i = (hash ^ (hash >> 32)) & mask;
  while (slots_[i].rank != kNone && slots_[i].pair != pair) i = (i + 1) & mask;
  return i;
}

void Merges::add(std::uint32_t left, std::uint32_t right, std::uint32_t rank,
                 std::uint32_t result) {
  const std::uint64_t pair = pair_of(left, right);
  slots_[slot_of(pair)] = {pair, rank, result};
}

const Merges::Slot& Merges::find(std::uint32_t left, std::uint32_t right) const {
  return slots_[slot_of(pair_of(left, right))];
}

void Merges::apply(std::vector<MergeSymbol>& symbols) const {
  if (symbols.size() < 2) return;
  if (symbols.size() <= kShort) {
    apply_short(symbols);
  } else {
    apply_long(symbols);
  }
}

void Merges::apply_short(std::vector<MergeSymbol>& symbols) const {
  std::array<const Slot*, kShort> merge;  // merge[i] joins symbols i and i + 1
  std::size_t count = symbols.size();
  for (std::size_t i = 0; i + 1 < count; ++i) merge[i] = &find(symbols[i].id, symbols[i + 1].id);
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < count; ++i)
      if (merge[i]->rank < merge[best]->rank) best = i;
    if (merge[best]->rank == kNone) break;
    symbols[best].id = merge[best]->result;
    --count;
    for (std::size_t i = best + 1; i < count; ++i) {
      symbols[i] = symbols[i + 1];
      merge[i - 1] = merge[i];
    }
    if (best + 1 < count) merge[best] = &find(symbols[best].id, symbols[best + 1].id);
    if (best > 0) merge[best - 1] = &find(symbols[best - 1].id, symbols[best].id);
  }
  symbols.resize(count);
}

void Merges::apply_long(std::vector<MergeSymbol>& symbols) const {
  const auto count = static_cast<std::uint32_t>(symbols.size());
  constexpr std::uint32_t kGone = 0xFFFFFFFFu;
  std::vector<std::uint32_t> before(count), after(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    before[i] = i == 0 ? kGone : i - 1;
    after[i] = i + 1 == count ? kGone : i + 1;
  }
  // An entry is stale when the symbols at its place are no longer the pair that it was made for.
  using Entry = std::tuple<std::uint32_t, std::uint32_t, const Slot*>;  // rank, place, merge
  std::vector<Entry> initial;
  const auto entry_at = [&](std::uint32_t left) {
    const Slot& slot = find(symbols[left].id, symbols[after[left]].id);
    return Entry{slot.rank, left, &slot};
  };
  for (std::uint32_t i = 0; i + 1 < count; ++i)
    if (Entry entry = entry_at(i); std::get<0>(entry) != kNone) initial.push_back(entry);
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> waiting(std::greater<>(),
                                                                         std::move(initial));
  std::vector<bool> gone(count, false);
  while (!waiting.empty()) {
    const auto [rank, left, merge] = waiting.top();
    waiting.pop();
    if (gone[left] || after[left] == kGone) continue;
    const std::uint32_t right = after[left];
    if (merge->pair != pair_of(symbols[left].id, symbols[right].id)) continue;
    symbols[left].id = merge->result;
    gone[right] = true;
    after[left] = after[right];
    if (after[left] != kGone) {
      before[after[left]] = left;
      if (Entry entry = entry_at(left); std::get<0>(entry) != kNone) waiting.push(entry);
    }
    if (before[left] != kGone)
      if (Entry entry = entry_at(before[left]); std::get<0>(entry) != kNone) waiting.push(entry);
  }
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < count; ++i)
    if (!gone[i]) symbols[kept++] = symbols[i];
  symbols.resize(kept);
}

}  // namespace shellgame
