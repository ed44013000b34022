// Traces of a task as episodes, in the memory of a piece: the exact belief runs beside the stream.
// Two kinds are made whole: uncertain traces of more variables than RunningBelief has, if their
// beliefs are wanted, and traces with steps, which probes keep whole anyway.
#pragma once

#include "shellgame/episodes/data.h"
#include "shellgame/episodes/piece_maker.h"
#include "shellgame/tokens/token_maker.h"

namespace shellgame {

// A task in a few words: its group and moves, and every other key that is not as usual.
std::string task_words(const Task& task);

class TraceSource final : public Source {
 public:
  // The tokenizer must outlive the source. Throws UsageError for a task that never shows a value.
  TraceSource(const Task& task, const Tokenizer& tokenizer, const SourceOptions& options);

  std::unique_ptr<Episode> episode(std::uint64_t index) const override;
  void whole(std::uint64_t index, Piece& piece) const override;
  std::uint64_t tokens() const override { return tokens_; }
  std::uint64_t vocabulary_size() const override;
  std::string name() const override { return task_words(sampler_.task()); }
  std::vector<Coordinate> axes() const override;
  std::uint64_t length() const override { return sampler_.task().commands; }
  double chance() const override;
  bool has_beliefs() const override { return options_.beliefs || is_certain(); }
  bool is_certain() const override { return !sampler_.task().uncertain(); }
  std::size_t variables() const override { return sampler_.names()->size(); }
  std::string variable_name(std::uint32_t variable) const override;
  std::string value_name(std::uint32_t value) const override;

 private:
  class TraceEpisode;
  Sampler sampler_;
  const Tokenizer& tokenizer_;
  PieceMaker pieces_;
  TokenMaker maker_;
  TraceMaker text_;
  SourceOptions options_;
  std::uint64_t tokens_ = 0;
  double command_tokens_ = 1;  // about
};

class TraceData final : public Data {
 public:
  explicit TraceData(Task task) : task_(std::move(task)) {}
  const Task& task() const { return task_; }
  bool is_text() const override { return true; }
  std::unique_ptr<Source> source(const Tokenizer* tokenizer,
                                 const SourceOptions& options) const override;
  bool goes_on() const override { return true; }
  std::uint64_t segment_tokens(const Tokenizer* tokenizer) const override;
  std::unique_ptr<Source> stream(const Tokenizer* tokenizer, const SourceOptions& options,
                                 std::uint64_t tokens) const override;
  std::string silence() const override;
  // n! states are visited at every command of an uncertain trace.
  bool beliefs_are_cheap(std::uint64_t traces, std::string& sentence) const override;

 private:
  Task task_;
};

}  // namespace shellgame
