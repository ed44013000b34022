// What the runs of a sweep gave, and where each row came from, as structs; and the one place that
// turns them into the JSON of sweep.json and results.json (docs/formats.md) and into text.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shellgame/train/sweep_plan.h"

namespace shellgame {

// A finished run.
struct SweepRow {
  std::uint64_t seed = 0;
  std::string directory = {};  // below the sweep's
  std::int64_t parameters = 0, tokens = 0, steps = 0;
  double seconds = 0, processor_seconds = 0, train_accuracy = 0;
  bool cut = false;                   // its budget was spent before its steps were done
  std::vector<SweepJson> cells = {};  // as evaluation.json has them
  // Where it came from. Of several starts the environments in turn, each as a place in
  // SweepResults::environments, and the command and time of the last.
  std::vector<std::size_t> environments = {};
  std::string command = {}, started = {};
  std::string from = {};  // the model that it started from; "": weights were drawn
};

struct SweepFailure {
  std::uint64_t seed = 0;
  std::string why = {};
};

// All runs with the same settings.
struct SweepEntry {
  std::vector<std::string> settings = {};
  std::vector<SweepRow> rows = {};
  std::vector<SweepFailure> failed = {};
};

struct SweepResults {
  std::string command = {}, experiment = {}, seeds = {};
  std::vector<SweepJson> environments = {};   // each once; without time and command
  std::vector<std::string> differences = {};  // where environments of rows differ; none: nowhere
  std::vector<SweepEntry> entries = {};
};

// Reads result.json, evaluation.json and environment.json of every run. A damaged or missing result
// makes the run one that failed, and its reason is kept in `runs`; a damaged environment is none.
SweepResults gather_sweep(const SweepOptions& options, std::vector<SweepRun>& runs);

// result.json of a run: an object of numbers, or null if there is none. Throws InputError.
SweepJson read_run_result(const std::string& directory);

SweepJson sweep_json(const SweepResults& results);
// The cells of an entry: each number of a cell as a list by row (docs/formats.md).
SweepJson sweep_cells(const std::vector<SweepRow>& rows);
// The table that `shellgame sweep` prints.
std::string sweep_text(const SweepResults& results);
bool any_failed(const SweepResults& results);
// What guessing gives, if it is the same in every cell of every run; else 0.
double common_chance(const SweepResults& results);

}  // namespace shellgame
