// The group word problem: uniform elements s_1 ... s_m in, their running products out. A product
// starts from the identity; right multiplication makes it t_i = t_(i-1) s_i, with (p q)(x) =
// p(q(x)), as the public data jopetty/word-problem has it; left multiplication makes it t_i = s_i
// t_(i-1).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shellgame/sequences/numbered_group.h"
#include "shellgame/sequences/sequence.h"

namespace shellgame {

class WordProblem : public SequenceTask {
 public:
  // Throws UsageError unless 1 <= length <= kMaxSequenceLength.
  WordProblem(NumberedGroup group, std::uint32_t length,
              Multiplication side = Multiplication::kRight);

  const NumberedGroup& group() const { return group_; }
  std::string name() const override;  // "A4xZ5, length 3, right multiplication"
  std::uint64_t vocabulary_size() const override { return group_.order(); }
  std::string token(std::uint32_t id) const override;  // the element's cycles
  // Input i is RandomStream::below(order), the i-th draw.
  Sequence sample(std::uint64_t seed, std::uint64_t index) const override;

 private:
  NumberedGroup group_;
  std::uint32_t length_;
  Multiplication side_;
};

// The targets that belong to `input`. Throws UsageError for an index outside the group.
std::vector<std::uint32_t> running_products(const NumberedGroup& group,
                                            std::span<const std::uint32_t> input,
                                            Multiplication side);

}  // namespace shellgame
