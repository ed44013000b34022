// An evaluation of one predictor on several points, each over one or more seeds: what `shellgame
// evaluate` asks for, and a run at its evaluation points.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shellgame/episodes/data.h"
#include "shellgame/episodes/task_record.h"
#include "shellgame/evaluate/cell.h"
#include "shellgame/evaluate/evaluate.h"

namespace shellgame {

// Exact beliefs of uncertain data: where they are affordable, or as said.
enum class Beliefs { kAuto, kAlways, kNever };

struct GridOptions {
  std::vector<SharedData> points = {};  // one a cell
  std::vector<std::string> notes = {};  // what was left out of them
  std::uint64_t count = 64;             // episodes of each cell and seed
  std::vector<std::uint64_t> seeds = {0};
  EvaluationMode mode = EvaluationMode::kTeacher;
  Beliefs beliefs = Beliefs::kAuto;
  std::uint64_t show = 0, rows = 16, slice = 0;
  std::uint64_t positions = 256;  // listed; further ones are pooled
  double confidence = 0.95;       // of the bounds
  double most_memory_gib = 0;     // 0: four fifths of what the machine has free
  // For the record.
  std::string model = {}, precision = {};
  std::optional<TaskRecord> trained = {};  // of the model
};

// `tokenizer` may be null where no point is text.
EvaluationReport evaluate_grid(const GridOptions& options, const Predictor& predictor,
                               const Tokenizer* tokenizer);

}  // namespace shellgame
