// metrics.jsonl of a run: one line a step (and one an evaluation), each written at once. After an
// interruption it is cut back to the checkpoint from which the run goes on, so that each step
// stands there once.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shellgame/train/train_observer.h"

namespace shellgame {

class MetricsFile : public TrainObserver {
 public:
  // Keeps the lines of steps up to `last_step` of what is there, and drops the rest (lines that are
  // damaged, and a last one that was torn). TensorBoard's file in `directory`/tensorboard is made
  // anew from them.
  MetricsFile(const std::string& directory, std::int64_t last_step);
  ~MetricsFile() override;
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  void step_done(const TrainingStep& step) override { append(step.metrics); }
  void evaluated(const TrainingEvaluation& evaluation) override { append(evaluation.metrics); }
  void checkpoint_begins(std::int64_t) override { sync(); }

  // Throws Error if the system cannot write it (a full disk).
  void append(const nlohmann::ordered_json& line);
  // TensorBoard's records are gathered and written now and then.
  void flush_events();
  // All lines to the disk, before a checkpoint says that they are there.
  void sync();
  // The first step up to `last_step` that the file did not have when it was opened; 0: it had all.
  std::int64_t first_missing() const { return first_missing_; }
  // A sentence for each line that was damaged when the file was opened, and was dropped.
  const std::vector<std::string>& damaged() const { return damaged_; }

 private:
  void open_events(const std::string& kept);

  std::string directory_, path_, events_path_, waiting_;
  int lines_ = -1, events_ = -1;
  std::int64_t first_missing_ = 0;
  std::vector<std::string> damaged_;
};

// Fields that say how long something took: they differ between two runs of the same experiment.
bool is_time_field(const std::string& name);

}  // namespace shellgame
