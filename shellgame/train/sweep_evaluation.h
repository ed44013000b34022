// One evaluation or probe of every run of a finished sweep, in the form of the sweep's own results,
// so that tables and figures read both alike.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "shellgame/train/sweep_results.h"

namespace shellgame {

struct SweepEvaluationOptions {
  std::string sweep = {};                  // the directory of a sweep that has ended
  std::string name = {};                   // each run keeps its part as evaluations/NAME.json
  std::string command = {};                // the record of what is asked
  std::vector<std::string> measures = {};  // that are kept; none: all
  // The cells of the run in a directory: a list of objects, as to_json(EvaluationReport) gives it.
  std::function<SweepJson(const std::string& run)> evaluate = {};
};

// The answer of a probe as cells: its "cells", then its "heads", by layer and head.
SweepJson probe_cells(const SweepJson& report);

// sweep.json with other cells, and `evaluation`: the command. Runs that keep an answer to the same
// command are not asked again, so that an interrupted evaluation goes on. Throws UsageError where a
// run keeps an answer to another command under this name, InputError for a damaged sweep.json.
SweepJson evaluate_sweep(const SweepEvaluationOptions& options);

}  // namespace shellgame
