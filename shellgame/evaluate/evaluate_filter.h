// evaluate_grid for a filter: `shellgame evaluate --filter NAME`. The data may be text, or a file
// of ids, which are decoded.
//
//   const auto report = evaluate_filter({.points = {data}}, {.filter = "linear", .precision =
//   "bf16"});
#pragma once

#include <cstdint>
#include <string>

#include "shellgame/evaluate/grid.h"

namespace shellgame {

struct FilterQuestion {
  std::string filter = "exact";  // of filter_predictor_names()
  std::string precision = {};    // empty: fp64
  std::uint64_t window = 0;      // of "window": commands
  std::string tokenizer = {};    // empty: the one that the data name, else lexemes
};

// Names the filter and its precision in the report. The gains of "gain" are fitted on traces of a
// training seed. Throws UsageError for data whose ids stand for no text, and for a precision where
// nothing is computed in one.
EvaluationReport evaluate_filter(GridOptions grid, const FilterQuestion& question);

}  // namespace shellgame
