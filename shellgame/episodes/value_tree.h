// The values that a reveal may show, as token ids: a tree whose branches are the tokens in their
// order. Where every value is one token it is a root with a leaf for each. A value whose tokens
// begin another value's ("1" and "17") ends by the token that stands after it.
//
// A model's choice is made by descending: at each node the most likely of the branches (greedy
// decoding, restricted to what can still become a value).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace shellgame {

class ValueTree {
 public:
  // The branch that ends a value which is the beginning of another; stands for whatever token comes
  // after the value in its text.
  static constexpr std::uint32_t kEnd = UINT32_MAX;

  // values[v] are the tokens of value v. Throws UsageError if there are none, if one is empty, or
  // if two are equal.
  explicit ValueTree(const std::vector<std::vector<std::uint32_t>>& values);

  struct Node {
    std::vector<std::uint32_t> tokens;  // of its branches
    std::vector<std::uint32_t> next;    // the node below each branch; a leaf is one without tokens
    std::uint32_t value = 0;            // of a leaf; elsewhere, some value below it
    bool one_value = false;             // only that value is below it
  };
  static constexpr std::uint32_t kRoot = 0;

  const Node& node(std::uint32_t at) const { return nodes_[at]; }
  bool is_leaf(std::uint32_t at) const { return nodes_[at].tokens.empty(); }
  std::size_t values() const { return paths_.size(); }
  // The branches that lead to a value, from the root: their numbers in each node.
  const std::vector<std::uint32_t>& path(std::uint32_t value) const { return paths_[value]; }
  const std::vector<std::uint32_t>& tokens(std::uint32_t value) const { return tokens_[value]; }

 private:
  std::vector<Node> nodes_;
  std::vector<std::vector<std::uint32_t>> tokens_, paths_;
};

}  // namespace shellgame
