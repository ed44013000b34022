#include "shellgame/evaluate/sequence_rows.h"

#include <numeric>

#include "shellgame/sequences/formal_language.h"
#include "shellgame/sequences/word_problem.h"
#include "shellgame/system/error.h"

namespace shellgame {
namespace {

// More targets than this are more than a model's head should have.
constexpr std::uint64_t kMostTargets = 1 << 20;

// The ids that a target may have are consecutive: the first, and how many.
struct Targets {
  std::uint32_t first, count;
};
Targets targets_of(const SequenceSpec& spec, const SequenceTask& task) {
  const auto vocabulary = task.vocabulary_size();
  if (vocabulary > kMostTargets) {
    wrong_use("a sequence task must have at most {} tokens, but {} has {}", kMostTargets,
              task.name(), vocabulary);
  }
  const auto all = static_cast<std::uint32_t>(vocabulary);
  if (spec.kind == "parity") return {all - 2, 2};
  if (spec.kind == "modular-arithmetic") return {all - kModulus, kModulus};
  return {0, all};
}

ValueTree tree_of(const Targets& targets) {
  std::vector<std::vector<std::uint32_t>> values;
  for (std::uint32_t i = 0; i < targets.count; ++i) values.push_back({targets.first + i});
  return ValueTree(values);
}

}  // namespace

class SequenceRows::SequenceRow final : public Row {
 public:
  SequenceRow(const SequenceRows& rows, std::uint64_t index) : rows_(rows), index_(index) {}

  bool next(RowPiece& piece) override {
    if (given_) return false;
    given_ = true;
    Sequence sequence = rows_.task_->sample(rows_.seed_, index_);
    piece.reveals.clear();
    // A single target belongs to the last input.
    const std::size_t before = sequence.input.size() - sequence.target.size();
    for (std::size_t i = 0; i < sequence.target.size(); ++i) {
      piece.reveals.push_back({.command = before + i + 1,
                               .value = sequence.target[i] - rows_.first_target_,
                               .after = before + i,
                               .values = &rows_.tree_});
    }
    piece.ids = std::move(sequence.input);
    return true;
  }

 private:
  const SequenceRows& rows_;
  std::uint64_t index_;
  bool given_ = false;
};

SequenceRows::SequenceRows(const SequenceSpec& spec, std::uint64_t seed)
    : spec_(spec),
      task_(make_sequence_task(spec)),
      first_target_(targets_of(spec, *task_).first),
      tree_(tree_of(targets_of(spec, *task_))),
      seed_(seed) {}

std::unique_ptr<Row> SequenceRows::row(std::uint64_t index) const {
  return std::make_unique<SequenceRow>(*this, index);
}

std::string SequenceRows::value_name(std::uint32_t value) const {
  return task_->token(first_target_ + value);
}

}  // namespace shellgame
