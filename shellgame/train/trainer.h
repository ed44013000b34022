// The training loop: stages, optimiser steps, metrics, evaluation points and checkpoints of one
// run, in its directory. Stopped at any moment, a run goes on from its last checkpoint and ends
// with the same bits.
#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shellgame/models/model.h"
#include "shellgame/train/experiment.h"
#include "shellgame/train/train_observer.h"

namespace shellgame {

struct TrainOptions {
  Experiment experiment = {};
  std::string run = {};  // the directory
  bool resume = false;   // go on with what is there
  bool quiet = false;    // say only what is wrong
  // Evaluates a model at an evaluation point: a list of cells, for metrics and evaluation.json. May
  // be empty.
  std::function<nlohmann::ordered_json(const Model&)> evaluate = {};
  // Told of what happens, after the display and the files of the run. They must outlive the call.
  std::vector<TrainObserver*> observers = {};
  // Asked after each step: stop with a checkpoint?
  const std::atomic<bool>* interrupted = nullptr;
};

struct TrainResult {
  bool complete = false;  // false: interrupted
  std::int64_t steps = 0, tokens = 0;
  double seconds = 0;
  double accuracy = 0;  // of revealed values, over the last steps
};

// Writes DIR/experiment.toml, environment.json, metrics.jsonl, checkpoints/, and at the end model/
// and (with `evaluate`) evaluation.json. Throws Error where the run cannot start or go on: a
// directory that is in use, memory that is not there, numbers that are not finite.
TrainResult train(const TrainOptions& options);

}  // namespace shellgame
