// The commands that a task draws from. A small group's commands form one table that all traces
// share, so that their texts and tokens are made once; a large group's commands are made one by one
// for each piece of a trace.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shellgame/groups/group.h"
#include "shellgame/programs/program.h"
#include "shellgame/random/philox.h"
#include "shellgame/tasks/task.h"

namespace shellgame {

// The statement `a, b, c = ...` over all n variables, or over the two that a swap moves.
Permute full_permute(const Permutation& permutation, std::size_t n);
Permute swap_permute(VariableId i, VariableId j);

// "0.5 (1 2), 0.5 (1 3)": weights that sum to 1 and cycles on the points 1..n; "()" is the
// identity. Each outcome names only the variables that it moves; identities come last, so that the
// text needs no `pass`.
Mixture parse_mixture(const std::string& text, std::size_t n, Condition source);

// The same mixture as a function whose work is skipped, and the variables to call it with. A move
// against the identity gives one function for each cycle type, whatever the variables.
struct SkippedCall {
  Definition definition;
  std::vector<VariableId> arguments;
};
SkippedCall make_skipped(const Mixture& mixture, std::size_t n);

class MoveSet {
 public:
  explicit MoveSet(const Task& task);

  // True if the moves are numbered: drawing one is drawing its index in the shared table.
  bool listed() const { return listed_; }
  const std::shared_ptr<const CommandTable>& table() const { return table_; }
  std::uint32_t draw_index(RandomStream& stream) const { return stream.below(count_); }
  // Any move set: the drawn statement itself.
  Permute draw(RandomStream& stream) const;

 private:
  static constexpr std::uint64_t kMostListed = 5040;
  std::size_t n_;
  Moves moves_;
  bool listed_ = false;
  std::uint32_t count_ = 0;
  std::optional<Group> group_;
  std::shared_ptr<const CommandTable> table_;
};

}  // namespace shellgame
