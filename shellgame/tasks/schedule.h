// A schedule: a trace that is written down instead of drawn, as steps (commands, prints, repeated
// blocks) with one or several endings. Parameters make cells (N = [1, 4, 16]); variants and namings
// make the traces of a cell. For evaluation alone a schedule may say what happened: which outcome
// an uncertain command had, what a print showed. docs/formats.md has the keys of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/programs/program.h"

namespace shellgame {

// A number, or the name of a parameter or variant that stands for it.
struct Amount {
  double number = 0;
  std::string name = {};
};

struct ScheduleStep {
  enum class Kind : std::uint8_t { kCommand, kPrint, kRepeat };
  Kind kind = Kind::kCommand;
  std::string place = {};  // for sentences: "file:line:column"
  // A command: certain if it has one outcome, else thresholds as in a Mixture.
  std::vector<Permute> outcomes = {};
  std::vector<Amount> thresholds = {};
  std::optional<std::size_t> outcome = {};  // the one that happened
  // A print.
  VariableId variable = 0;
  std::optional<Amount> shows = {};  // the value that it showed, from 1
  bool ask = false;
  // A block, so many times; in round `at` of every `every` ones (both from 1), `instead` of it.
  Amount times = {1};
  std::vector<ScheduleStep> steps = {}, instead = {};
  std::uint64_t every = 0, at = 0;
};

struct ScheduleEnding {
  std::string name;  // empty if it is the only one
  std::vector<ScheduleStep> steps;
};

// A name with the numbers that it takes.
struct ScheduleNumbers {
  std::string name;
  std::vector<double> numbers;
};

struct Schedule {
  static constexpr std::size_t kMostVariables = 8;

  std::string file, name;
  std::size_t variables = 0;
  std::vector<ValueId> start;  // from 0; empty: unknown, sample(...)
  bool all_namings = false;    // else the names as they are written
  std::uint64_t traces = 0;    // of a cell; 0: each variant under each naming once
  bool ask_all = false;        // every print; else those with `ask`, else the last one
  std::vector<ScheduleNumbers> parameters, variants;
  std::vector<ScheduleStep> steps;
  std::vector<ScheduleEnding> endings;  // at least one
};

// Throws InputError with file, line and column: what must hold, what was received.
Schedule parse_schedule(std::string_view toml, const std::string& file);

// Whether it says what happened somewhere.
bool is_forced(const Schedule& schedule);

// One point of a schedule: a number for each parameter, and an ending.
struct ScheduleCell {
  std::vector<double> parameters;
  std::size_t ending = 0;
};
std::vector<ScheduleCell> cells_of(const Schedule& schedule);
// "N=1,4" or "ending=c": keeps these numbers of a parameter (which need not be in the file), or
// these endings. Throws UsageError for unknown names.
void restrict_schedule(Schedule& schedule, const std::string& setting);

// 256, 0.5: as a person writes it.
std::string amount_text(double number);

}  // namespace shellgame
