// An experiment: everything that decides a training run, but for where it is written. It is a TOML
// file; docs/training.md describes every key. No Torch here: the tool reads experiments too.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "shellgame/episodes/batcher.h"
#include "shellgame/episodes/data_kind.h"
#include "shellgame/episodes/task_record.h"
#include "shellgame/train/losses.h"
#include "shellgame/train/tune_space.h"

namespace shellgame {

// Parameters whose names contain `match` (the last group that matches counts).
struct ParameterGroup {
  std::string match = {};
  std::optional<double> decay = {};
  double rate = 1;  // times the learning rate
};

struct OptimiserSettings {
  std::string kind = "adamw";  // or muon: for matrices inside blocks, AdamW for the rest
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.95, eps = 1e-8;
  double decay = 0.1;  // of matrices; norms, biases and decay rates have none
  double clip = 1;     // the largest norm of all gradients together; 0: none
  double muon_rate = 0.02, muon_momentum = 0.95;
  std::vector<ParameterGroup> groups = {};
};

struct ScheduleSettings {
  std::string shape = "cosine";  // or constant
  std::string span = "run";      // the cosine falls over all steps of the run, or of each stage
  double minimum = 0.1;          // of the learning rate, at the end of the cosine
  double warmup = 0.05;          // steps, or a share of all steps if below 1
};

// The running mean of the weights over a stage's steps, with which the model is evaluated and
// written. 0: none.
struct AverageSettings {
  double decay = 0;
};

struct StageSettings {
  // Each row of a batch draws one of these: every combination of the axes, for each of `tasks`.
  DataAxes axes;
  std::vector<DataCell> data;
  std::int64_t batch = 8;               // rows
  std::int64_t accumulation = 1;        // batches whose gradients are added up in a step
  std::int64_t pieces = 1;              // of a row, whose activations are kept one at a time
  std::int64_t steps = 1000;            // at most
  double until = 0;                     // leave when the running accuracy passes it; 0: never
  std::int64_t window = 20;             // steps of the running accuracy
  std::optional<double> learning_rate;  // instead of the optimiser's
  std::optional<std::string> shape;     // instead of the schedule's, over this stage
  std::optional<double> minimum;
  std::optional<StreamSettings> stream;
};

struct EvaluationSettings {
  std::int64_t every = 0;  // steps; 0: only at the end
  DataAxes axes;           // those that it lacks are the last stage's
  std::int64_t count = 64;
  std::uint64_t seed = 0;
};

struct CheckpointSettings {
  double seconds = 60;     // between checkpoints; 0: no clock
  std::int64_t every = 0;  // steps; 0: only by the clock
  int keep = 2;
};

struct Experiment {
  std::string name;
  std::string arm;  // which of the file's [[arms]]; "" where it has none
  std::uint64_t seed = 0;
  int threads = 0;  // 0: the tool's default
  std::string precision = "fp32", device = "cpu";
  bool composed = false;
  DataSpec task;  // what stages have in common; may lack what they add
  std::string tokenizer = "lexeme";
  nlohmann::json model = nlohmann::json::object();  // keys of config.json
  std::string init = "fla";                         // or torch
  std::vector<std::string> plugins;                 // shared libraries (docs/plugins.md)
  std::string from;   // a Hugging Face directory whose weights are the first; "": drawn
  double budget = 0;  // CPU seconds, after which training ends where it is; 0: no limit
  LossChoice loss;
  OptimiserSettings optimiser;
  ScheduleSettings schedule;
  AverageSettings average;
  std::vector<StageSettings> stages;
  EvaluationSettings evaluation;
  CheckpointSettings checkpoint;

  std::int64_t total_steps() const;
  // The whole with all defaults, as TOML that reads back to the same.
  std::string toml() const;
  nlohmann::json resolved;  // what toml() writes
};

// Reads FILE with changes "optimiser.learning-rate=1e-3" or "stages.0.batch=4" over it. Throws
// InputError or UsageError: what must hold, what was received, which key.
// A file may compare several arms: [[arms]] have a name and whatever differs from the rest of the
// file (a [model] with a model_type takes the whole table's place, other tables are merged).
// "arm=NAME" among the changes chooses one, else it is the first; other changes come after it.
Experiment read_experiment(const std::string& file, const std::vector<std::string>& changes = {});
Experiment parse_experiment(std::string_view toml, const std::string& file,
                            const std::vector<std::string>& changes = {});
// The batches of a stage; `tokenizer` is null for data that are no text.
BatchPlan batch_plan(const Experiment& experiment, std::size_t stage, const Tokenizer* tokenizer,
                     bool together);
// What a run is evaluated on: every combination of the axes. `notes` says what was left out.
std::vector<SharedData> evaluation_points(const Experiment& experiment,
                                          std::vector<std::string>& notes);
// The axes of these points: the last stage's, with those of [evaluation] over them.
DataAxes evaluation_axes(const Experiment& experiment);
// What its model is trained for: the last stage's data, and how far.
TaskRecord trained_task(const Experiment& experiment);
// The plug-ins that a file names, which must be loaded before it is read: its tasks may be theirs.
std::vector<std::string> experiment_plugins(std::string_view toml, const std::string& file);
// What the command of a run decides beside the file, also in `resolved`: threads, the model whose
// weights are the first ("" leaves the file's) and more plug-ins, with absolute paths.
void set_run_choices(Experiment& experiment, int threads, const std::string& from,
                     const std::vector<std::string>& plugins = {});
// Where two experiments differ, as a part of a sentence: "it differs at /seed: 4"; empty if they
// are the same.
std::string experiment_difference(const Experiment& stored, const Experiment& given);
// The file's [tune]. Throws InputError if it has none.
TuneSpace experiment_tune_space(const std::string& file);
// The names of a file's arms; empty if it has none.
std::vector<std::string> experiment_arms(const std::string& file);

}  // namespace shellgame
