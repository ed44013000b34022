#include "shellgame/episodes/value_tree.h"

#include <gtest/gtest.h>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

TEST(ValueTree, ValuesOfOneTokenAreARootWithLeaves) {
  const ValueTree tree({{7}, {8}, {9}});
  EXPECT_EQ(tree.node(ValueTree::kRoot).tokens, (std::vector<std::uint32_t>{7, 8, 9}));
  for (std::uint32_t v = 0; v < 3; ++v) {
    EXPECT_EQ(tree.path(v), std::vector<std::uint32_t>{v});
    const std::uint32_t leaf = tree.node(ValueTree::kRoot).next[v];
    EXPECT_TRUE(tree.is_leaf(leaf));
    EXPECT_EQ(tree.node(leaf).value, v);
  }
  EXPECT_FALSE(tree.node(ValueTree::kRoot).one_value);
}

TEST(ValueTree, AValueThatBeginsAnotherEndsByItsOwnBranch) {
  const ValueTree tree({{1}, {1, 7}, {2}, {1, 7, 3}});
  const auto& root = tree.node(ValueTree::kRoot);
  EXPECT_EQ(root.tokens, (std::vector<std::uint32_t>{1, 2}));
  const auto& one = tree.node(root.next[0]);
  EXPECT_EQ(one.tokens, (std::vector<std::uint32_t>{7, ValueTree::kEnd}));
  EXPECT_FALSE(one.one_value);
  EXPECT_TRUE(tree.is_leaf(one.next[1]));
  EXPECT_EQ(tree.node(one.next[1]).value, 0u);
  EXPECT_EQ(tree.path(0), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(tree.path(3), (std::vector<std::uint32_t>{0, 0, 0}));
}

TEST(ValueTree, ALongValueAloneBelowABranchIsKnownThere) {
  const ValueTree tree({{4, 5, 6}, {8, 5}});
  const std::uint32_t below = tree.node(ValueTree::kRoot).next[0];
  EXPECT_TRUE(tree.node(below).one_value);
  EXPECT_EQ(tree.node(below).value, 0u);
  EXPECT_EQ(tree.path(0).size(), 3u);
}

TEST(ValueTree, EqualOrEmptyValuesAreRefused) {
  EXPECT_THROW(ValueTree({{1, 2}, {1, 2}}), UsageError);
  EXPECT_THROW(ValueTree({{1}, {}}), UsageError);
  EXPECT_THROW(ValueTree(std::vector<std::vector<std::uint32_t>>{}), UsageError);
}

}  // namespace
}  // namespace shellgame
