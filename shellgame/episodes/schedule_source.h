// Traces of a schedule as episodes, piece by piece, with the exact belief beside them. One Data is
// one cell: the numbers of the parameters and an ending. Cells that share a prefix are rows of
// their own, so that a row is what training and probes know; an evaluation reads what they share
// once (Data::family).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shellgame/episodes/data.h"
#include "shellgame/episodes/piece_maker.h"
#include "shellgame/programs/line_cache.h"
#include "shellgame/tasks/schedule_plan.h"

namespace shellgame {

class ScheduleSource final : public Source {
 public:
  // The tokenizer must outlive the source. Throws UsageError for a schedule that never prints,
  // InputError where what it says cannot happen.
  ScheduleSource(std::shared_ptr<const SchedulePlan> plan, const Tokenizer& tokenizer,
                 const SourceOptions& options);

  // Trace `index` modulo the number of traces. To train on (may_be_silent) there is no end: each
  // index draws outcomes of its own.
  std::unique_ptr<Episode> episode(std::uint64_t index) const override;
  std::uint64_t episodes() const override { return options_.may_be_silent ? 0 : plan_->traces(); }
  // False too where only the last print shows something after what is hidden, and what that is
  // follows from the text in every trace of the cell.
  bool depends_on_seed() const override;
  std::uint64_t tokens() const override { return tokens_; }
  std::uint64_t vocabulary_size() const override { return tokenizer_.vocabulary_size(); }
  std::string name() const override;
  std::vector<Coordinate> axes() const override;
  std::uint64_t length() const override { return plan_->commands(); }
  double chance() const override { return 1.0 / static_cast<double>(variables()); }
  bool has_beliefs() const override { return options_.beliefs || is_certain(); }
  bool is_certain() const override { return !plan_->is_uncertain(); }
  std::size_t variables() const override { return plan_->names()->size(); }
  std::string variable_name(std::uint32_t variable) const override {
    return plan_->names()->variable(variable);
  }
  std::string value_name(std::uint32_t value) const override {
    return plan_->names()->value(value).text;
  }

 private:
  class ScheduleEpisode;
  std::shared_ptr<const SchedulePlan> plan_;
  const Tokenizer& tokenizer_;
  PieceMaker pieces_;
  LineCache<std::uint32_t> lines_;
  SourceOptions options_;
  std::uint64_t tokens_ = 0;
};

// The coordinates of a cell: the schedule's name, its parameters, its ending if it has several.
std::vector<Coordinate> schedule_axes(const SchedulePlan& plan);

class ScheduleData final : public Data {
 public:
  explicit ScheduleData(std::shared_ptr<const SchedulePlan> plan) : plan_(std::move(plan)) {}
  const SchedulePlan& plan() const { return *plan_; }
  bool is_text() const override { return true; }
  std::string family() const override { return plan_->schedule().name; }
  std::unique_ptr<Source> source(const Tokenizer* tokenizer,
                                 const SourceOptions& options) const override;

 private:
  std::shared_ptr<const SchedulePlan> plan_;
};

// Reads a schedule, or a certificate of the adversary (docs/adversary.md) as one: its word, then
// its cycle N times, then for each variable an ending that asks for it.
Schedule read_schedule(const std::string& file);
Schedule parse_any_schedule(std::string_view text, const std::string& file);

// The cells of a schedule after settings such as "N=1,4" and "ending=c", or "N=1,4,ending=c".
std::vector<std::shared_ptr<const SchedulePlan>> schedule_cells(
    const std::string& file, const std::vector<std::string>& settings);

}  // namespace shellgame
