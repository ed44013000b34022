// A task spec: everything that decides what traces look like, except seed and index. Its keys,
// defaults and help texts are declared once, in task_keys.h, for the command line and for TOML
// files alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shellgame/groups/permutation.h"
#include "shellgame/programs/program.h"

namespace shellgame {

// Raised by one whenever what a (spec, seed, index) gives changes. Every trace, shard and run
// states it.
inline constexpr int kGeneratorVersion = 1;

enum class Moves { kPermutations, kSwaps, kGenerators };
enum class Reveals { kUniform, kRoundRobin, kFixed, kNone };
// How a reveal shows a variable. Which form, and against which values, is drawn without a look at
// the state: kUnequal asks whether the variable equals a drawn value and shows the answer as `==`
// or `!=`; kMember splits the values in two at random and names the half that holds the variable's
// value.
enum class RevealForm { kPrint, kEqual, kUnequal, kMember };
enum class InitialReveal { kNone, kOne, kAll };
enum class Otherwise { kIdentity, kMove };

// One stage of a curriculum: `traces` indices with these lengths; the last stage has no end.
struct Stage {
  std::uint64_t commands = 0, spacing = 0, traces = 0;
  friend bool operator==(const Stage&, const Stage&) = default;
};

// Whole numbers from `least` to `most`, one of which is drawn.
struct DrawnCycles {
  std::uint64_t least = 1, most = 1;
  friend bool operator==(const DrawnCycles&, const DrawnCycles&) = default;
};

struct Task {
  std::string group = "S5";
  Moves moves = Moves::kPermutations;
  std::uint64_t commands = 64;
  std::uint64_t spacing = 8;
  Reveals reveals = Reveals::kUniform;
  std::string reveal_variable = "a";
  std::uint64_t reveal_count = 1;
  std::vector<RevealForm> reveal_forms = {RevealForm::kPrint};
  InitialReveal initial_reveal = InitialReveal::kNone;
  std::uint64_t full_reveal_period = 0;

  bool branching = false, skipped = false, unknown_start = false;
  std::vector<double> probabilities = {0.5};  // each uncertain command draws one
  Condition condition = Condition::kRandom;
  Otherwise otherwise = Otherwise::kIdentity;
  double uncertain_share = 1.0;
  // Cycle notation with weights, "0.5 (1 2), 0.5 (1 3)": replaces moves, probability and otherwise.
  std::vector<std::string> mixtures;

  // Sticky runs, in this share of the traces: one command and one variable that it moves are kept
  // for a drawn number of cycles (`spacing` times the command, then a reveal of the variable).
  // Before each run come a drawn number of ordinary cycles, so that a run ends with a question as
  // usual.
  double sticky_share = 0;
  DrawnCycles sticky_cycles = {1, 12}, sticky_gap = {1, 4};

  std::vector<std::string> values;  // strings instead of 1..n
  Multiplication product = Multiplication::kRight;
  std::vector<Stage> stages;

  bool uncertain() const { return branching || skipped || unknown_start; }
  friend bool operator==(const Task&, const Task&) = default;
};

// The number of variables of a group spec. S_n may have more than 16 points (only swaps and
// permutations need no table of the group); all other groups act on at most 16.
std::size_t group_degree(const std::string& group);

// Checks that depend on several keys; throws UsageError that names the keys.
void check_task(const Task& task);

// The stage that trace `index` belongs to (the task's own commands and spacing if it has no
// stages).
Stage stage_of(const Task& task, std::uint64_t index);

}  // namespace shellgame
