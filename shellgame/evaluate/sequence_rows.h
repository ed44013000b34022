// Sequence-to-sequence tasks as rows: every target is a value to predict at its input.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "shellgame/evaluate/rows.h"
#include "shellgame/sequences/sequence_spec.h"

namespace shellgame {

class SequenceRows final : public RowMaker {
 public:
  // Sequences of one kind with lengths from spec.min to spec.max.
  SequenceRows(const SequenceSpec& spec, std::uint64_t seed);

  std::unique_ptr<Row> row(std::uint64_t index) const override;
  std::uint64_t tokens() const override { return spec_.max; }
  std::uint64_t vocabulary_size() const override { return task_->vocabulary_size(); }
  std::uint64_t length() const override { return spec_.max; }
  double chance() const override { return 1.0 / static_cast<double>(tree_.values()); }
  bool has_beliefs() const override { return true; }  // every target follows from the inputs
  std::string variable_name(std::uint32_t) const override { return "target"; }
  std::string value_name(std::uint32_t value) const override;

 private:
  class SequenceRow;
  SequenceSpec spec_;
  std::unique_ptr<SequenceTask> task_;
  std::uint32_t first_target_;  // the smallest id that is a target
  ValueTree tree_;
  std::uint64_t seed_;
};

}  // namespace shellgame
