// Models as Hugging Face directories: config.json, model.safetensors (or shards with an index), and
// tokenizer.json where the model reads the lexemes of the trace language.
#pragma once

#include <cstdint>
#include <string>

#include "shellgame/models/model.h"
#include "shellgame/tensors/dtype.h"
#include "shellgame/tensors/tensor_directory.h"

namespace shellgame {

// The configuration of DIR/config.json.
ModelConfig read_config(const std::string& directory);

// fp32 parameters, or fp64 where all tensors of the file are. Every parameter must be there, with
// its shape, and nothing else, and no file may be of another model (kIdentityKey). Throws Error or
// InputError.
Model load_model(const std::string& directory);

struct SaveOptions {
  Dtype dtype = Dtype::kF32;
  std::uint64_t max_shard_bytes = kDefaultShardBytes;
  // Also write the lexeme vocabulary's tokenizer files.
  bool lexemes = false;
  // The text of a tokenizer.json to write beside the model, so that it can be moved; or none.
  std::string tokenizer = {};
  // The text of a task.json (episodes/task_record.h): what the model is for; or none.
  std::string task = {};
};

// The directory appears when it is complete, and takes the place of an earlier model's; whoever
// looks finds one of the two. Files that are not the model's stay.
void save_model(const Model& model, const std::string& directory, const SaveOptions& options = {});

// The same files into an empty directory, for who makes more of it appear at once.
void write_model_files(const Model& model, const std::string& directory,
                       const SaveOptions& options);

// The lexeme vocabulary's tokenizer.json and tokenizer_config.json.
void write_lexeme_tokenizer(const std::string& directory);

}  // namespace shellgame
