// A cell of a schedule, ready to be made into traces: its steps in order, the table of commands
// under all namings, and the stream that gives a trace piece by piece.
//
// Where the schedule says what happened, the hidden outcomes are drawn from their distribution
// given all that it says: a forced trace is distributed as an honest one that happens to show this.
// No seed of Python gives such outcomes, so that the numbers that random() returned are a part of
// the trace. What the belief given the text is, forcing does not change.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "shellgame/programs/execute.h"
#include "shellgame/programs/program.h"
#include "shellgame/random/philox.h"
#include "shellgame/tasks/schedule.h"

namespace shellgame {

class SchedulePlan {
 public:
  static constexpr std::uint64_t kMostSteps = 100'000'000;

  // Throws UsageError for more steps than that, InputError for thresholds that do not rise.
  SchedulePlan(Schedule schedule, const ScheduleCell& cell);
  SchedulePlan(const SchedulePlan&) = delete;  // it points into its own schedule
  SchedulePlan& operator=(const SchedulePlan&) = delete;

  const Schedule& schedule() const { return schedule_; }
  const ScheduleCell& cell() const { return cell_; }
  const std::shared_ptr<const Names>& names() const { return names_; }
  const std::shared_ptr<const CommandTable>& table() const { return table_; }
  std::uint64_t commands() const { return commands_; }
  std::uint64_t traces() const;  // of the cell
  bool forced() const { return forced_; }
  // Whether a command or the start is hidden.
  bool is_uncertain() const { return hidden_ || schedule_.start.empty(); }
  // Whether a print after something hidden does not say what it shows, and whether one before the
  // last print is such; if none is, the text does not depend on the seed.
  bool shows_what_is_drawn() const { return shows_drawn_; }
  bool shows_it_early() const { return shows_early_; }
  // Whether the print that is step `at` is asked for.
  bool asks(std::size_t at) const;
  // Whether any step is, and whether the last print is.
  bool asks_any() const;
  bool asks_last() const { return asks_any() && asks(last_print_); }

 private:
  friend class ScheduleStream;
  // A step in one variant and naming.
  struct Leaf {
    bool print = false, hidden = false;
    std::uint32_t at = 0;  // in the table's permutes or, if hidden, mixtures
    VariableId variable = 0;
    std::optional<std::size_t> outcome = {};
    std::optional<ValueId> shows = {};
  };

  void flatten(const std::vector<ScheduleStep>& steps);
  std::uint64_t count(const std::vector<ScheduleStep>& steps) const;
  double value_of(const Amount& amount, const std::vector<double>& variant) const;
  Leaf leaf_of(const ScheduleStep& step, const std::vector<double>& variant,
               const std::vector<VariableId>& naming, CommandTable& table) const;
  const std::vector<Leaf>& leaves(std::uint64_t trace) const {
    return leaves_[trace % leaves_.size()];
  }

  Schedule schedule_;
  ScheduleCell cell_;
  std::shared_ptr<const Names> names_;
  std::shared_ptr<const CommandTable> table_;
  std::vector<const ScheduleStep*> kinds_;         // the different steps
  std::vector<std::uint32_t> order_;               // their numbers, in the order of the trace
  std::vector<std::vector<Leaf>> leaves_;          // of each variant under each naming
  std::vector<std::vector<VariableId>> names_of_;  // the naming of each of these
  std::uint64_t commands_ = 0;
  std::size_t last_print_ = SIZE_MAX, last_forced_ = 0;  // steps; the second is one past it
  bool forced_ = false, hidden_ = false, marked_ = false, shows_drawn_ = false,
       shows_early_ = false;
};

// One trace. The plan must outlive it.
class ScheduleStream {
 public:
  // Throws InputError, with the place of the step, if what the schedule says cannot happen.
  ScheduleStream(const SchedulePlan& plan, std::uint64_t seed, std::uint64_t index);

  // Fills `piece` with the next `commands` commands and the prints after them (the first piece also
  // has the start). False, with an empty piece, when the trace is complete.
  bool next(Program& piece, std::uint64_t commands, std::vector<ValueId>* states = nullptr);
  // By event of the piece: whether it is a print that is asked for.
  const std::vector<bool>& asked() const { return asked_; }
  std::uint32_t python_seed() const { return python_seed_; }
  // What random() returned so far; empty for traces that are not forced: there the seed tells it.
  const std::vector<double>& hidden_numbers() const { return hidden_numbers_; }

 private:
  using Leaf = SchedulePlan::Leaf;
  void look_ahead();
  void draw_forced_start();
  [[noreturn]] void refuse_impossible() const;
  void start(Program& piece);
  void step(Program& piece, std::size_t at, std::vector<ValueId>* states);
  std::size_t forced_outcome(const Mixture& mixture, const Leaf& leaf, std::size_t at);
  const std::uint32_t* moved(const Permute& permute);
  double drawn_in(const Mixture& mixture, std::size_t outcome);

  const SchedulePlan& plan_;
  const std::vector<Leaf>& leaves_;
  const std::vector<VariableId>& naming_;
  std::size_t n_;
  RandomStream random_;
  std::uint32_t python_seed_;
  HiddenSources hidden_;
  TrackedState state_;
  std::size_t at_ = 0;
  bool started_ = false;
  std::vector<bool> asked_;
  std::vector<double> hidden_numbers_;
  // Of forced traces: all orders of the values, and how probable what the schedule says from a step
  // on is from each of them (times a factor of the step).
  std::vector<ValueId> orders_;
  std::vector<double> ahead_;
  std::vector<std::pair<const Permute*, std::vector<std::uint32_t>>> moved_;
};

}  // namespace shellgame
