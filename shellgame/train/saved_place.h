// Where a run was when a checkpoint was written, as trainer.json says it. It is checked against the
// experiment before anything of it is used: a checksum tells damage, not what was never true.
#pragma once

#include <ATen/core/Tensor.h>

#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "shellgame/models/model.h"
#include "shellgame/train/experiment.h"
#include "shellgame/train/schedule.h"

namespace shellgame {

struct SavedPlace {
  RunPlace place;
  std::int64_t tokens = 0;
  double seconds = 0, processor_seconds = 0;
  std::deque<std::pair<std::int64_t, std::int64_t>> window;  // right and all answers of steps
  std::int64_t optimiser_steps = 0, average_steps = 0;
  std::vector<std::int64_t> state_tokens;  // of streams, one a part of a step
};

// Throws Error with a sentence if the experiment has no such place.
SavedPlace read_saved_place(const nlohmann::json& json, std::int64_t step,
                            const Experiment& experiment);

// Copies saved tensors, named with a prefix, into tensors of the same kinds and shapes. Adds their
// names to `known`. Throws Error.
void copy_tensors(const std::map<std::string, at::Tensor>& saved, const std::string& prefix,
                  const std::map<std::string, at::Tensor>& into, std::set<std::string>& known);

// The state of a stream with `rows` rows after `tokens` tokens; empty if none was saved. Throws
// Error if the model cannot be in such a state: kernels rely on the shapes.
ModelState saved_state(const std::map<std::string, at::Tensor>& saved, const std::string& prefix,
                       std::int64_t tokens, const Model& model, std::int64_t rows,
                       std::set<std::string>& known);

}  // namespace shellgame
