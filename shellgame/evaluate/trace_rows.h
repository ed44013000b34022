// Traces of a task as rows. A certain task streams in the memory of a piece; an uncertain one whose
// beliefs are wanted is made whole, since the exact filter reads its program.
#pragma once

#include <map>
#include <mutex>
#include <tuple>

#include "shellgame/evaluate/rows.h"
#include "shellgame/tokens/token_maker.h"

namespace shellgame {

class TraceRows final : public RowMaker {
 public:
  // `seed` is the generator's (evaluation_seed() of a person's). `beliefs`: whether to compute the
  // exact beliefs of an uncertain task; those of a certain one cost nothing. The tokenizer must
  // outlive the rows. Throws UsageError for a task that never shows a value.
  TraceRows(const Task& task, const Tokenizer& tokenizer, std::uint64_t seed, bool beliefs);

  std::unique_ptr<Row> row(std::uint64_t index) const override;
  std::uint64_t tokens() const override { return tokens_; }
  std::uint64_t vocabulary_size() const override;
  std::uint64_t length() const override { return sampler_.task().commands; }
  double chance() const override;
  bool has_beliefs() const override { return beliefs_ || !sampler_.task().uncertain(); }
  std::string variable_name(std::uint32_t variable) const override;
  std::string value_name(std::uint32_t value) const override;

 private:
  class TraceRow;
  // The values that could stand at a mark, as tokens; `at` is its place among the marks of its
  // event.
  const ValueTree& values_at(const Program& program, const RevealMark& mark, std::size_t at) const;
  // Marks and ids as a piece; `beliefs` may be null.
  void fill(const TokenTrace& trace, const std::vector<std::vector<double>>* beliefs,
            RowPiece& piece) const;

  Sampler sampler_;
  const Tokenizer& tokenizer_;
  TokenMaker maker_;
  std::uint64_t seed_;
  bool beliefs_;
  std::uint64_t tokens_ = 0;
  mutable std::mutex mutex_;
  // By kind, form and number of variables of the event, and the value's place in it: how a value is
  // cut into tokens may depend on what stands around it.
  using Context = std::tuple<EventKind, std::uint8_t, std::uint16_t, std::size_t>;
  mutable std::map<Context, ValueTree> trees_;
};

// Whether exact beliefs of so many uncertain traces are affordable: n! states, each visited at
// every command. `sentence` says what was decided against.
bool beliefs_are_cheap(const Task& task, std::uint64_t traces, std::string& sentence);

}  // namespace shellgame
