// The index of a checkpoint in several files (model.safetensors.index.json): which tensor is in
// which file. And the rule by which tensors are cut into such files.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/tensors/safetensors.h"

namespace shellgame {

inline constexpr char kModelFile[] = "model.safetensors";
inline constexpr char kIndexFile[] = "model.safetensors.index.json";

// Under this key all files of a checkpoint that shellgame wrote (config.json, the index, the
// metadata of each safetensors file) have the same text, so that files of two checkpoints are not
// taken for one. Files of others lack it.
inline constexpr char kIdentityKey[] = "shellgame_identity";

struct TensorIndex {
  std::map<std::string, std::string>
      files;                     // the file of each tensor, a name in the same directory
  std::uint64_t total_size = 0;  // bytes of all tensors; written, not believed
  std::string identity = {};     // of the checkpoint (kIdentityKey); empty: it has none
  bool operator==(const TensorIndex&) const = default;
};

// Throws InputError: the names of files must be plain names that end in .safetensors, so that an
// index cannot point out of its directory.
TensorIndex parse_tensor_index(std::string_view json, const std::string& file);
std::string write_tensor_index(const TensorIndex& index);

// Groups of tensors in their order, each of at most `max_bytes` (one tensor that is larger is
// alone), as Hugging Face cuts them; at least one group.
std::vector<std::vector<TensorSource>> cut_into_shards(std::span<const TensorSource> tensors,
                                                       std::uint64_t max_bytes);
// "model-00001-of-00003.safetensors" for number 0 of 3; model.safetensors if it is the only one.
std::string shard_name(std::size_t number, std::size_t count);

}  // namespace shellgame
