// Accuracies that were measured: of published results (a sweep's table) and of runs on disk, in one
// form, by the cell of the evaluation and by seed.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "shellgame/report/panel.h"
#include "shellgame/train/experiment.h"

namespace shellgame {

using Cell2 = std::pair<std::uint64_t, std::uint64_t>;  // commands, spacing

struct MeasuredCell {
  std::vector<double> accuracy, final_accuracy;  // one a seed
  std::vector<std::vector<double>> by_position;  // each reveal, one list a seed
};

// All seeds of one experiment with the same settings.
struct Measured {
  std::string experiment, label, group, moves;
  Cell2 trained;                             // the last stage; of several spacings the widest
  std::vector<std::uint64_t> spacings = {};  // all of the last stage's
  std::uint64_t stream = 0;  // commands of the longest stream that was trained, of any stage
  std::map<Cell2, MeasuredCell> cells = {};
  std::vector<std::uint64_t> seeds = {};
  std::int64_t parameters = 0;
  std::string from = {};  // for captions: "experiments/architectures/results.json"
  std::vector<std::string> directories = {};  // of runs on disk, one a seed
};

// "DeltaNet [-1,1]", "DeltaProduct [-1,1], 2 steps", "Transformer", or what the experiment calls
// its arm or its model.
std::string model_label(const Experiment& experiment);

// The table that a sweep has written. `file` is the experiment that it names; entries without
// cells, and sequences, are left out.
std::vector<Measured> measured_of_sweep(const nlohmann::ordered_json& all, const std::string& file,
                                        const std::string& from);

// Every finished run below a directory (it has result.json, evaluation.json and experiment.toml),
// seeds of the same settings together. Throws Error if it is no directory.
std::vector<Measured> measured_of_runs(const std::string& directory);

// The published tables DIR/*/results.json that have their experiment.toml beside them.
std::vector<Measured> measured_of_results(const std::string& directory);

// Mean with the band from worst to best; no band for one seed.
struct SeedSpread {
  double mean = 0, least = 0, most = 0;
};
SeedSpread seed_spread(const std::vector<double>& values);
void add_point(Series& series, double x, const std::vector<double>& values);

// The sets of one experiment and group that can be compared: at least two labels, all of them with
// a cell that `wanted` takes. The one with most labels, then seeds; empty if there is none.
std::vector<Measured> best_comparison(const std::vector<Measured>& all,
                                      bool (*wanted)(const Measured&));

// A colour that stays with an architecture through all figures.
SeriesStyle style_of(const std::string& label, std::size_t otherwise);

// 1/n of the group.
double chance_of(const Measured& measured);

}  // namespace shellgame
