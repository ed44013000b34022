// Batches for a stage, made when they are asked for. What comes next is a pure function of the
// experiment and a cursor, so that a run can stop and go on at any batch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "shellgame/tokens/token_stream.h"
#include "shellgame/train/experiment.h"

namespace shellgame {

struct TrainingBatch {
  at::Tensor ids, targets;                 // [B, T]; targets that do not count are negative
  std::vector<std::int64_t> answers = {};  // places b T + t whose targets are revealed values
  std::int64_t tokens = 0;                 // without padding
  // Of a stream: which rows begin anew; the others go on where they were. Empty: all begin.
  std::vector<bool> fresh = {};
};

class BatchMaker {
 public:
  // `tokenizer` must outlive the maker; null for sequences.
  BatchMaker(const Experiment& experiment, const Tokenizer* tokenizer);
  ~BatchMaker();

  // Begins a stage. With `together`, all rows of a stream begin anew at the same batch (for models
  // whose state is not kept row by row).
  void start_stage(std::size_t stage, bool together);
  // The next batch. `stage_step` decides how long new streams are; `part` is the place within a
  // step whose gradients are added up: each part has rows of its own.
  TrainingBatch next(std::int64_t stage_step, std::int64_t part = 0);

  // Where it is, and back there (after start_stage). Throws Error for a cursor that this stage
  // cannot have.
  nlohmann::json cursor() const;
  void restore(const nlohmann::json& cursor);

 private:
  struct Variant;
  struct Row;

  TrainingBatch next_traces();
  TrainingBatch next_sequences();
  TrainingBatch next_segments(std::int64_t stage_step, std::int64_t part);
  void begin_stream(Row& row, std::int64_t segments) const;
  void check_cursor(const nlohmann::json& cursor) const;
  std::size_t drawn_variant(std::uint64_t index) const;

  const Experiment& experiment_;
  const Tokenizer* tokenizer_;
  const StageSettings* stage_ = nullptr;
  bool together_ = false;
  std::uint64_t next_index_ = 0;
  std::vector<std::unique_ptr<Variant>> variants_;
  std::unique_ptr<SequenceTask> sequence_;
  std::int64_t segment_tokens_ = 0;  // T of a stream
  std::vector<Row> rows_;
};

}  // namespace shellgame
