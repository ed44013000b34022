// What figures ask for: measured accuracies, small runs that are trained where nothing was found,
// and the answers of probes. The tool implements it; tests give their own.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "shellgame/figures/measured.h"
#include "shellgame/report/table_records.h"
#include "shellgame/report/verdict.h"

namespace shellgame {

// The experiments that are trained for figures, all small.
enum class SmallExperiment { kArchitectures, kSpacing, kInside };

class FigureSources {
 public:
  virtual ~FigureSources() = default;

  // Published results and finished runs.
  virtual const std::vector<Measured>& found() = 0;
  // Trains them, or uses what was trained before, and says so.
  virtual std::vector<Measured> trained(SmallExperiment experiment) = 0;
  // The records of a file of the experiment under uncertainty (RESULTS/uncertainty/FILE); throws
  // Error, with the command that makes it, where it is not there.
  virtual std::vector<TableRecord> records(const std::string& file) = 0;
  // What the rule of that experiment says of its results; nothing where there are none.
  virtual std::optional<Verdict> verdict() = 0;
  // What `shellgame probe NAME` answers about a run, as JSON.
  virtual nlohmann::ordered_json probe(const std::string& run, const std::string& name) = 0;
};

// Runs of DeltaNet or DeltaProduct [-1,1] on permutations to look inside of, one set of settings,
// at most `most` seeds: those found with the most seeds (S_5 before other groups), else small ones.
Measured runs_inside(FigureSources& sources, std::size_t most);

// The comparison of architectures for which all have a cell that `wanted` takes; trained small
// where none was found.
std::vector<Measured> comparison(FigureSources& sources, bool (*wanted)(const Measured&));

// "5 seeds of ...", "trained for this figure": where numbers come from, for captions.
std::string origin_of(const std::vector<Measured>& sets);

}  // namespace shellgame
