// What happens in a training, told to whoever wants to know. The display, metrics.jsonl and
// TensorBoard's file are observers; a program adds its own in TrainOptions. They are called on the
// thread that trains, in the order of the list, and what they throw ends the run.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace shellgame {

struct TrainingStart {
  std::string run;        // the directory
  std::int64_t step = 0;  // of the checkpoint from which the run goes on; 0: the beginning
  std::size_t stages = 1;
  std::int64_t steps = 1;  // at most
  std::int64_t parameters = 0;
};

struct TrainingStep {
  std::size_t stage = 0, stages = 1;
  std::string stage_name = {};  // "(16,2)"
  std::int64_t stage_step = 0, stage_steps = 1;
  std::int64_t step = 0, steps = 1;  // at most
  double loss = 0, accuracy = 0;     // of revealed values, running
  double tokens_per_second = 0;
  double utilisation = 0;               // of the machine's GEMM peak; 0: not known
  double seconds = 0;                   // trained so far
  double step_seconds = 0;              // a step of this stage, lately
  nlohmann::ordered_json metrics = {};  // its line of metrics.jsonl
};

struct TrainingStage {
  std::size_t stage = 0;
  std::string name;
  std::int64_t steps = 0, tokens = 0;  // steps of the stage, tokens of the run
  double accuracy = 0, seconds = 0;    // running, and of the run
};

struct TrainingEvaluation {
  std::int64_t step = 0;
  nlohmann::ordered_json cells;    // as in evaluation.json
  nlohmann::ordered_json metrics;  // its line of metrics.jsonl
};

struct TrainingEnd {
  bool complete = false;  // false: interrupted, with a checkpoint
  std::string model;      // the directory, where it is complete
  std::int64_t step = 0, tokens = 0;
  double accuracy = 0, seconds = 0;
};

class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  // Something that a person may want to know before the first step, or that is `wrong`.
  virtual void noticed(const std::string& /*sentence*/, bool /*wrong*/) {}
  virtual void started(const TrainingStart&) {}
  virtual void stage_begins(const TrainingStage&) {}
  virtual void stage_ends(const TrainingStage&) {}
  virtual void step_done(const TrainingStep&) {}
  virtual void evaluated(const TrainingEvaluation&) {}
  // Before a checkpoint is written, and when it is there. What an observer has told of must be on
  // the disk after the first.
  virtual void checkpoint_begins(std::int64_t /*step*/) {}
  virtual void checkpoint_written(std::int64_t /*step*/, const std::string& /*directory*/) {}
  virtual void ended(const TrainingEnd&) {}
};

}  // namespace shellgame
