// Checkpoints of a run: a Hugging Face directory with the trainer's own files beside it
// (trainer.safetensors, trainer.json with checksums of all files). A checkpoint appears when it is
// complete and on the disk; a damaged one is passed over.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "shellgame/models/checkpoint.h"

namespace shellgame {

struct RunCheckpoint {
  std::int64_t step = 0;
  nlohmann::json place = {};  // where the run is: stage, cursor, running accuracy
  std::map<std::string, at::Tensor> tensors = {};  // the optimiser's and the streams'
};

// Writes CHECKPOINTS/step-00000012, then removes those before the last `keep` whole ones. Throws
// Error, and writes nothing, if a weight is not finite: nothing could go on from there.
void write_checkpoint(const std::string& checkpoints, const RunCheckpoint& checkpoint,
                      const Model& model, const SaveOptions& options, int keep);

// The steps for which there are checkpoints, whole or not, the newest first.
std::vector<std::int64_t> checkpoint_steps(const std::string& checkpoints);
std::string checkpoint_path(const std::string& checkpoints, std::int64_t step);

// The newest whole one's step: its files have their checksums and its weights are finite.
std::optional<std::int64_t> newest_whole_checkpoint(const std::string& checkpoints);

// Reads the newest whole checkpoint, its weights into `model`. Calls `damaged` with a sentence for
// each one that is not whole. Nothing if there is none. `use` is called with what was read, and
// throws Error if it does not fit the run: that one is passed over too.
std::optional<RunCheckpoint> read_newest_checkpoint(
    const std::string& checkpoints, const Model& model,
    const std::function<void(const std::string&)>& damaged,
    const std::function<void(const RunCheckpoint&)>& use = {});

}  // namespace shellgame
