#include "shellgame/sequences/word_problem.h"

#include <utility>

#include "shellgame/random/philox.h"
#include "shellgame/text/error.h"

namespace shellgame {

WordProblem::WordProblem(NumberedGroup group, std::uint32_t length, Multiplication side)
    : group_(std::move(group)), length_(length), side_(side) {
  if (length < 1 || length > kMaxSequenceLength)
    wrong_use("The length of a word must be between 1 and {}, not {}.", kMaxSequenceLength, length);
}

std::string WordProblem::name() const {
  return fmt::format("{}, length {}, {} multiplication", group_.name(), length_, to_string(side_));
}

std::string WordProblem::token(std::uint32_t id) const { return group_.element(id).to_cycles(); }

Sequence WordProblem::sample(std::uint64_t seed, std::uint64_t index) const {
  RandomStream stream(seed, index, Lane::kSequence);
  Sequence sequence;
  sequence.input.reserve(length_);
  for (std::uint32_t i = 0; i < length_; ++i)
    sequence.input.push_back(stream.below(group_.order()));
  sequence.target = running_products(group_, sequence.input, side_);
  return sequence;
}

std::vector<std::uint32_t> running_products(const NumberedGroup& group,
                                            std::span<const std::uint32_t> input,
                                            Multiplication side) {
  std::vector<std::uint32_t> targets;
  targets.reserve(input.size());
  Permutation state;
  for (const std::uint32_t index : input) {
    state = product(state, group.element(index), side);
    targets.push_back(group.index_of(state));
  }
  return targets;
}

}  // namespace shellgame
