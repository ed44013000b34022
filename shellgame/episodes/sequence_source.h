// Sequence-to-sequence tasks as episodes: every target is a value to predict at its input. A word
// problem of a group that acts on points has steps: a variable for each point, the product's image
// as its value (by left multiplication, that of its inverse).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "shellgame/episodes/data.h"
#include "shellgame/sequences/numbered_group.h"
#include "shellgame/sequences/sequence_spec.h"

namespace shellgame {

class SequenceSource final : public Source {
 public:
  // Sequences of one kind with lengths from spec.min to spec.max.
  SequenceSource(const SequenceSpec& spec, const SourceOptions& options);

  std::unique_ptr<Episode> episode(std::uint64_t index) const override;
  std::uint64_t tokens() const override { return spec_.max; }
  std::uint64_t vocabulary_size() const override { return task_->vocabulary_size(); }
  std::string name() const override;
  std::vector<Coordinate> axes() const override;
  std::uint64_t length() const override { return 0; }
  double chance() const override { return 1.0 / static_cast<double>(tree_.values()); }
  bool has_beliefs() const override { return true; }  // every target follows from the inputs
  bool is_certain() const override { return true; }
  std::size_t variables() const override;
  std::string variable_name(std::uint32_t) const override { return "target"; }
  std::string value_name(std::uint32_t value) const override;

 private:
  class SequenceEpisode;
  SequenceSpec spec_;
  std::unique_ptr<SequenceTask> task_;
  std::uint32_t first_target_;  // the smallest id that is a target
  ValueTree tree_;
  SourceOptions options_;
  std::optional<NumberedGroup> group_;  // of steps
};

class SequenceData final : public Data {
 public:
  explicit SequenceData(SequenceSpec spec) : spec_(std::move(spec)) {}
  const SequenceSpec& spec() const { return spec_; }
  bool is_text() const override { return false; }
  std::unique_ptr<Source> source(const Tokenizer*, const SourceOptions& options) const override {
    return std::make_unique<SequenceSource>(spec_, options);
  }

 private:
  SequenceSpec spec_;
};

}  // namespace shellgame
