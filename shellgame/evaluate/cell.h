// The results of an evaluation: a cell for each point of the grid, with the statistics of all seeds
// together and of each; written as text, JSON or CSV. No Torch.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "shellgame/episodes/source.h"
#include "shellgame/episodes/task_record.h"
#include "shellgame/evaluate/tally.h"

namespace shellgame {

// A reveal of a trace that is shown, in words.
struct ShownLine {
  std::uint64_t command = 0;
  std::string variable = {}, chosen = {}, truth = {}, bayes = {};  // an empty bayes: not known
  double probability = 0, bayes_probability = 0;
  bool right = false;
};
struct ShownTrace {
  std::uint64_t seed = 0, index = 0;
  std::vector<ShownLine> lines;
};

struct SeedResult {
  std::uint64_t seed = 0;
  Statistics statistics;
};

struct EvaluationCell {
  std::string task = {};                     // in words
  std::vector<Coordinate> axes;              // the point: 64 commands, spacing 8
  Statistics all;                            // the traces of all seeds together
  std::vector<PositionGroup> few_positions;  // for people: at most 16 groups
  std::vector<SeedResult> seeds;
  bool has_beliefs = false;
  std::uint64_t tokens = 0;
  double seconds = 0;
  std::vector<ShownTrace> shown;

  // Of a mean over this cell's answers; nothing where it is not known.
  std::optional<double> value_of(const Measure& measure, const AnswerNumbers& mean) const;
};

struct EvaluationReport {
  std::string model, mode, precision;  // mode: "teacher" or "free"
  std::uint64_t count = 0;             // traces of each seed, of the cell that has most
  double confidence = 0.95;
  std::optional<TaskRecord> trained = {};  // what the model is for, where that is known
  std::vector<EvaluationCell> cells;
  std::vector<std::string> notes;  // what was left out, and why
  double seconds = 0;              // of all cells
  std::int64_t peak_memory = 0;    // bytes of the process; 0: not known
};

// The numbers that every form lists, in this order: metrics.cpp has the table.
struct Metric {
  struct Bounded {
    bool in_text = false, in_csv = false;  // beside the number; JSON has all bounds
  };
  const char* name;
  // Nothing where the cell does not have it.
  std::function<std::optional<double>(const EvaluationCell&, const Statistics&)> get;
  const char* column = nullptr;  // of the table for people; null: none
  std::function<std::string(const Statistics&, double)> text = {};
  std::function<std::optional<Bounds>(const EvaluationCell&, const Statistics&)> bounds = {};
  std::function<std::string(const Bounds&)> bounds_text = {};
  Bounded bounded = {};
  bool of_belief = false, comes_last = false;  // of the columns for people
};
const std::vector<Metric>& evaluation_metrics();
// Of the seeds that have it.
std::vector<double> values_by_seed(const EvaluationCell& cell, const Metric& metric);
// As people read them: four digits, and never 1 or 0 for a share that only rounds to it.
std::string share_text(double value);
std::string share_bounds_text(const Bounds& bounds);
std::string measure_text(const Measure& measure, double value);

// The axes of all cells, each once, in the order of their first cell; and a cell's values of them,
// empty where it has no such axis.
std::vector<std::string> axis_names(const EvaluationReport& report);
std::vector<std::string> axis_values(const EvaluationCell& cell,
                                     const std::vector<std::string>& names);

// A list of objects, one a cell; docs/formats.md names the keys.
nlohmann::ordered_json to_json(const EvaluationReport& report);
std::string to_csv(const EvaluationReport& report);
std::string to_text(const EvaluationReport& report);

}  // namespace shellgame
