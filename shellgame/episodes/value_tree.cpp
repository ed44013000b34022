#include "shellgame/episodes/value_tree.h"

#include <map>
#include <utility>

#include "shellgame/text/error.h"

namespace shellgame {

ValueTree::ValueTree(const std::vector<std::vector<std::uint32_t>>& values) : tokens_(values) {
  if (values.empty()) wrong_use("there must be a value to choose");
  nodes_.emplace_back();
  // Which values end at a node, while the tree grows.
  std::vector<std::optional<std::uint32_t>> ends(1);
  // The number of the branch by which a token leaves a node.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> branches;
  const auto branch = [&](std::uint32_t at, std::uint32_t token) {
    const auto [found, is_new] =
        branches.try_emplace({at, token}, static_cast<std::uint32_t>(nodes_[at].tokens.size()));
    if (!is_new) return nodes_[at].next[found->second];
    const auto below = static_cast<std::uint32_t>(nodes_.size());
    nodes_[at].tokens.push_back(token);
    nodes_[at].next.push_back(below);
    nodes_.emplace_back();
    ends.emplace_back();
    return below;
  };
  for (std::uint32_t v = 0; v < values.size(); ++v) {
    if (values[v].empty()) wrong_use("value {} must have a token", v + 1);
    std::uint32_t at = kRoot;
    for (const std::uint32_t token : values[v]) at = branch(at, token);
    if (ends[at]) {
      wrong_use("values must differ in their tokens, but values {} and {} do not", *ends[at] + 1,
                v + 1);
    }
    ends[at] = v;
  }
  // A value that ends inside the tree gets a branch of its own.
  const std::size_t inner = nodes_.size();
  for (std::uint32_t at = 0; at < inner; ++at) {
    if (ends[at] && !nodes_[at].tokens.empty()) ends[branch(at, kEnd)] = *ends[at];
  }
  // Children come after their parents, except for the ends, which are leaves: from the back, every
  // node knows what is below it.
  for (std::size_t at = nodes_.size(); at-- > 0;) {
    Node& node = nodes_[at];
    if (node.tokens.empty()) {
      node.value = *ends[at];
      node.one_value = true;
    } else {
      node.value = nodes_[node.next.front()].value;
      node.one_value = node.next.size() == 1 && nodes_[node.next.front()].one_value;
    }
  }
  for (std::uint32_t v = 0; v < values.size(); ++v) {
    std::vector<std::uint32_t>& path = paths_.emplace_back();
    std::uint32_t at = kRoot;
    for (std::size_t depth = 0; !is_leaf(at); ++depth) {
      const std::uint32_t token = depth < values[v].size() ? values[v][depth] : kEnd;
      path.push_back(branches.at({at, token}));
      at = nodes_[at].next[path.back()];
    }
  }
}

}  // namespace shellgame
