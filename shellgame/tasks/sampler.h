// Programs of a task. A sample is a pure function of (spec, seed, index); a stream gives the same
// program piece by piece, holding only one piece and the current state. What is revealed, and in
// which form, is drawn without a look at the state: otherwise the choice itself would tell
// something, and a Bayes belief could not be the label.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "shellgame/programs/execute.h"
#include "shellgame/programs/program.h"
#include "shellgame/random/philox.h"
#include "shellgame/tasks/moves.h"
#include "shellgame/tasks/task.h"

namespace shellgame {

class ProgramStream;

class Sampler {
 public:
  explicit Sampler(Task task);  // throws UsageError on a wrong spec

  const Task& task() const { return task_; }
  const std::shared_ptr<const Names>& names() const { return names_; }
  // The commands that every program of this sampler shares. Empty where the pieces have tables of
  // their own: for large groups, slips of two drawn moves, and skipped functions.
  const std::shared_ptr<const CommandTable>& shared_table() const { return table_; }

  // The whole program; `states`, if given, gets the state after each command, one after the other.
  Program sample(std::uint64_t seed, std::uint64_t index,
                 std::vector<ValueId>* states = nullptr) const;
  void sample(std::uint64_t seed, std::uint64_t index, Program& program,
              std::vector<ValueId>* states = nullptr) const;
  // The seed of the hidden numbers, which the text does not show.
  static std::uint32_t python_seed(std::uint64_t seed, std::uint64_t index);

 private:
  friend class ProgramStream;
  void check_mixtures() const;
  Task task_;
  std::shared_ptr<const Names> names_;
  MoveSet moves_;
  std::vector<Mixture> mixtures_;  // the spec's own, if it has some
  bool own_tables_;
  std::shared_ptr<const CommandTable> table_;
  State initial_;
  std::vector<std::uint8_t>
      packed_sources_;  // 16 a shared permute, times four, if all of them are full permutations
  std::vector<VariableId> all_variables_;
};

class ProgramStream {
 public:
  ProgramStream(const Sampler& sampler, std::uint64_t seed, std::uint64_t index);

  // Fills `piece` with the next `commands` commands and their reveals (the first piece also has the
  // start). False, with an empty piece, when the program is complete.
  bool next(Program& piece, std::uint64_t commands, std::vector<ValueId>* states = nullptr);
  const TrackedState& state() const { return state_; }
  std::uint64_t commands_total() const { return stage_.commands; }

 private:
  void start();
  std::uint64_t next_reveal() const;
  void plain_commands(std::uint64_t count);
  void command();
  void draw_command();
  void do_command();
  void draw_sticky();
  std::uint32_t drawn_probability();
  void reveals();
  void reveal_some();
  void reveal_sticky();
  void show(const std::vector<VariableId>& variables);
  void reveal_one(VariableId variable, RevealForm form);
  void reveal_all();
  CommandTable& own_table();

  const Sampler& sampler_;
  const Task& task_;
  Stage stage_;
  RandomStream random_;
  HiddenSources hidden_;
  TrackedState state_;
  Program* piece_ = nullptr;
  std::shared_ptr<CommandTable>
      own_;  // commands of the current piece that are not in the shared table
  std::vector<Definition> definitions_;
  std::uint64_t done_ = 0, environment_ = 0, turn_ = 0;
  bool started_ = false;
  // The command at hand: what it does, and its number where the shared table has it.
  bool hidden_command_ = false;
  std::uint32_t shared_ = 0;
  Permute permute_;
  Mixture made_;
  const Mixture* mixture_ = nullptr;
  // A trace with sticky runs: ordinary cycles that are left before the run, then cycles of the run.
  bool sticky_ = false, run_ended_ = false;
  std::uint64_t gap_left_ = 0, cycles_left_ = 0;
  VariableId kept_variable_ = 0;
  std::vector<VariableId> shown_;
  std::vector<ValueId> values_;  // scratch
};

}  // namespace shellgame
