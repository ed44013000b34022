// The evaluation points of a run.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shellgame/models/model.h"
#include "shellgame/train/experiment.h"

namespace shellgame {

// A function that evaluates a model as the experiment says: every pair of commands and spacing, or
// every length. It gives a list of cells, for metrics and evaluation.json; `told` (may be empty)
// gets the notes of the first call. `run` is for the record.
std::function<nlohmann::ordered_json(const Model&)> run_evaluation(
    const Experiment& experiment, const std::string& run,
    std::function<void(const std::vector<std::string>& notes)> told);

}  // namespace shellgame
