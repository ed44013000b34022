// The merges of byte-pair encoding: which two neighbours join, in which order.
#pragma once

#include <cstdint>
#include <vector>

namespace shellgame {

// A token of a piece while it is being merged, and the byte of the piece at which it begins.
struct MergeSymbol {
  std::uint32_t id;
  std::uint32_t start;
};

class Merges {
 public:
  explicit Merges(std::size_t expected = 0);
  // Joins `left` and `right` to `result`; lower ranks go first. A later merge of the same pair
  // replaces the earlier one, as in Hugging Face's library.
  void add(std::uint32_t left, std::uint32_t right, std::uint32_t rank, std::uint32_t result);
  // Applies merges, always the one of lowest rank (of equals, the leftmost), until none is left.
  // Short pieces are searched again and again, long ones go through a heap: n log n.
  void apply(std::vector<MergeSymbol>& symbols) const;

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;  // as rank: no merge
  struct Slot {
    std::uint64_t pair = ~std::uint64_t{0};
    std::uint32_t rank = kNone;
    std::uint32_t result = 0;
  };
  const Slot& find(std::uint32_t left, std::uint32_t right) const;
  std::size_t slot_of(std::uint64_t pair) const;
  void apply_short(std::vector<MergeSymbol>& symbols) const;
  void apply_long(std::vector<MergeSymbol>& symbols) const;

  std::vector<Slot> slots_;
};

}  // namespace shellgame
