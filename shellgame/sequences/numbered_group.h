// A group with the numbers that the public data jopetty/word-problem gives its elements. They are
// the Group's own (lexicographic) numbers, for S_n, A_n, small Z_n and products alike; only a
// cyclic group of more than 16 points, such as their Z60, differs: it is kept as a product of
// cyclic groups of prime powers, and the element number k is the k-th power of a generator.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/groups/group.h"

namespace shellgame {

class NumberedGroup {
 public:
  // All that parse_group() takes, and cyclic factors beyond 16 points whose prime powers fit: Z60.
  // The group must have fewer than 2^32 elements. Throws UsageError.
  static NumberedGroup parse(std::string_view name);
  explicit NumberedGroup(Group group);

  const std::string& name() const { return name_; }  // "Z60", while group() is Z4xZ3xZ5
  const Group& group() const { return group_; }
  std::uint32_t order() const { return static_cast<std::uint32_t>(group_.order()); }
  Permutation element(std::uint32_t index) const;
  std::uint32_t index_of(Permutation p) const;

 private:
  struct Factor {
    std::uint32_t order = 1;
    std::vector<std::uint32_t> to_own, from_own;  // empty where the numbers are the group's own
  };
  using Table = std::vector<std::uint32_t> Factor::*;
  std::uint32_t renumber(std::uint32_t index, Table table) const;

  std::string name_;
  Group group_;
  std::vector<Factor> factors_;  // empty when no factor is renumbered
};

}  // namespace shellgame
