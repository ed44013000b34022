// The tensors of a Hugging Face directory by name, in and out, whether they are in one file
// (model.safetensors) or in several with an index.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/tensors/safetensors.h"
#include "shellgame/tensors/tensor_index.h"

namespace shellgame {

class TensorDirectory {
 public:
  // A directory, or one .safetensors file. If a directory has both model.safetensors and an index,
  // the single file counts, as it does for transformers. Checks that every tensor is in the file
  // which the index names and in no other, and that no file is of another checkpoint. Throws Error
  // or InputError.
  static TensorDirectory open(const std::string& path);

  // All of them, sorted by name.
  std::vector<const StoredTensor*> tensors() const;
  const StoredTensor* find(std::string_view name) const;  // nullptr if it is not there
  const StoredTensor& at(std::string_view name) const;    // throws InputError
  const SafetensorsFile& file_of(std::string_view name) const;
  const std::vector<SafetensorsFile>& files() const { return files_; }
  // What all files have under kIdentityKey; empty if one lacks it.
  const std::string& identity() const { return identity_; }

  // Copies the numbers, as `dtype`; the tensor must have `shape`.
  void read(std::string_view name, std::span<const std::int64_t> shape, Dtype dtype,
            void* out) const;
  std::vector<float> floats(std::string_view name) const { return file_of(name).floats(name); }

 private:
  struct Place {
    std::size_t file;
    const StoredTensor* tensor;
  };

  void add_file(const std::string& path);
  void check_identity(const TensorIndex& index);
  const Place& place_of(std::string_view name) const;

  std::string path_, identity_;
  std::vector<SafetensorsFile> files_;
  std::map<std::string_view, Place> places_;  // views of names in files_
};

// Hugging Face's default.
inline constexpr std::uint64_t kDefaultShardBytes = 5'000'000'000;

// A text that differs for different tensors or a different `beside` (what belongs to them, such as
// the configuration), for kIdentityKey of the metadata.
std::string identity_of(std::span<const TensorSource> tensors, std::string_view beside);

// model.safetensors, its index, or one of several files.
bool is_weights_file(std::string_view name);
// That, config.json, or task.json (what it is for): what must be replaced together.
bool is_model_file(std::string_view name);

// Writes model.safetensors, or several files of at most `max_shard_bytes` and their index, into an
// empty directory.
void write_tensor_files(const std::string& directory, std::span<const TensorSource> tensors,
                        std::uint64_t max_shard_bytes = kDefaultShardBytes,
                        const Metadata& metadata = kPyTorchMetadata);
// The same for any directory, which is made if it is missing. The files appear together when all
// are complete, and take the place of an earlier checkpoint's (system/replace_directory.h).
void write_tensor_directory(const std::string& path, std::span<const TensorSource> tensors,
                            std::uint64_t max_shard_bytes = kDefaultShardBytes,
                            const Metadata& metadata = kPyTorchMetadata);

}  // namespace shellgame
