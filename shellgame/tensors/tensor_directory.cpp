#include "shellgame/tensors/tensor_directory.h"

#include <algorithm>
#include <filesystem>

#include "shellgame/system/checksum.h"
#include "shellgame/system/files.h"
#include "shellgame/system/replace_directory.h"
#include "shellgame/text/error.h"
#include "shellgame/text/strict_json.h"

namespace shellgame {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// "model-00001-of-00003.safetensors"
bool is_shard_name(std::string_view name) {
  const std::string pattern = "model-#####-of-#####.safetensors";
  return name.size() == pattern.size() && std::ranges::equal(name, pattern, [](char c, char p) {
           return p == '#' ? c >= '0' && c <= '9' : c == p;
         });
}

std::string read_index(const std::string& path) {
  const InputFile file(path);
  if (file.size() > kMaxSafetensorsHeader) {
    throw InputError(path, fmt::format("the index must have at most {} bytes, not {}",
                                       kMaxSafetensorsHeader, file.size()));
  }
  std::string json(file.size(), '\0');
  file.read(0, std::as_writable_bytes(std::span(json)));
  return json;
}

std::string identity_in(const SafetensorsFile& file) {
  const auto found = file.metadata().find(kIdentityKey);
  return found == file.metadata().end() ? "" : found->second;
}

}  // namespace

TensorDirectory TensorDirectory::open(const std::string& path) {
  TensorDirectory directory;
  directory.path_ = path;
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    directory.add_file(path);
    return directory;
  }
  if (exists(path + "/" + kModelFile)) {
    directory.add_file(path + "/" + kModelFile);
    return directory;
  }
  const std::string index_path = path + "/" + kIndexFile;
  if (!exists(index_path))
    fail("the directory '{}' must hold {} or {}", path, kModelFile, kIndexFile);
  const TensorIndex index = parse_tensor_index(read_index(index_path), index_path);

  // Every file once, then both ways: what it holds is in the index, what the index names is held.
  std::map<std::string, std::size_t> numbers;
  for (const auto& [tensor, file] : index.files) {
    if (!numbers.emplace(file, directory.files_.size()).second) continue;
    if (!exists(path + "/" + file)) {
      throw InputError(index_path, fmt::format("the file '{}', which has tensor '{}', must stand "
                                               "beside the index",
                                               shown(file), shown(tensor)));
    }
    directory.files_.emplace_back(path + "/" + file);
    for (const StoredTensor& stored : directory.files_.back().tensors()) {
      const auto named = index.files.find(stored.name);
      if (named == index.files.end() || named->second != file) {
        throw InputError(
            path + "/" + file,
            fmt::format("tensor '{}' must be in the file that the index names{}",
                        shown(stored.name),
                        named == index.files.end() ? ", but it names none"
                                                   : fmt::format(", '{}'", shown(named->second))));
      }
      directory.places_.emplace(stored.name, Place{directory.files_.size() - 1, &stored});
    }
  }
  for (const auto& [tensor, file] : index.files) {
    if (!directory.places_.contains(tensor)) {
      throw InputError(path + "/" + file,
                       fmt::format("the file must hold the tensor '{}', which the "
                                   "index says is there",
                                   shown(tensor)));
    }
  }
  directory.check_identity(index);
  return directory;
}

void TensorDirectory::check_identity(const TensorIndex& index) {
  std::string source = kIndexFile;
  identity_ = index.identity;
  bool everywhere = !identity_.empty();
  for (const SafetensorsFile& file : files_) {
    const std::string other = identity_in(file);
    everywhere = everywhere && !other.empty();
    if (other.empty() || other == identity_) continue;
    if (!identity_.empty()) {
      throw InputError(file.path(),
                       fmt::format("the file must be of the same model as {}, but is of another "
                                   "model: its {} is '{}', not '{}'",
                                   source, kIdentityKey, shown(other), shown(identity_)));
    }
    identity_ = other;
    source = file.path();
  }
  if (!everywhere) identity_.clear();
}

void TensorDirectory::add_file(const std::string& path) {
  files_.emplace_back(path);
  identity_ = identity_in(files_.back());
  for (const StoredTensor& tensor : files_.back().tensors())
    places_.emplace(tensor.name, Place{files_.size() - 1, &tensor});
}

std::vector<const StoredTensor*> TensorDirectory::tensors() const {
  std::vector<const StoredTensor*> all;
  for (const auto& [name, place] : places_) all.push_back(place.tensor);
  return all;
}

const StoredTensor* TensorDirectory::find(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : found->second.tensor;
}

const TensorDirectory::Place& TensorDirectory::place_of(std::string_view name) const {
  const auto found = places_.find(name);
  if (found == places_.end())
    throw InputError(path_, fmt::format("the checkpoint must hold the tensor '{}'", shown(name)));
  return found->second;
}

const StoredTensor& TensorDirectory::at(std::string_view name) const {
  return *place_of(name).tensor;
}

const SafetensorsFile& TensorDirectory::file_of(std::string_view name) const {
  return files_[place_of(name).file];
}

void TensorDirectory::read(std::string_view name, std::span<const std::int64_t> shape, Dtype dtype,
                           void* out) const {
  const StoredTensor& tensor = at(name);
  if (!std::ranges::equal(tensor.shape, shape)) {
    throw InputError(file_of(name).path(),
                     fmt::format("tensor '{}' must have the shape {}, not {}", shown(name),
                                 shape_text(shape), shape_text(tensor.shape)));
  }
  file_of(name).read(tensor, dtype, out);
}

std::string identity_of(std::span<const TensorSource> tensors, std::string_view beside) {
  std::string text;
  for (const TensorSource& tensor : tensors) {
    const std::size_t bytes = element_count(tensor.shape).value_or(0) * dtype_size(tensor.dtype);
    text += fmt::format("{} {} {} {:08x}\n", tensor.name, shape_text(tensor.shape),
                        dtype_name(tensor.stored_dtype()),
                        bytes == 0 ? 0 : crc32c({static_cast<const char*>(tensor.data), bytes}));
  }
  return fmt::format("{:08x}{:08x}", crc32c(beside), crc32c(text));
}

bool is_weights_file(std::string_view name) {
  return name == kModelFile || name == kIndexFile || is_shard_name(name);
}

bool is_model_file(std::string_view name) {
  return name == "config.json" || name == "task.json" || is_weights_file(name);
}

void write_tensor_files(const std::string& directory, std::span<const TensorSource> tensors,
                        std::uint64_t max_shard_bytes, const Metadata& metadata) {
  const auto shards = cut_into_shards(tensors, max_shard_bytes);
  TensorIndex index;
  if (const auto found = metadata.find(kIdentityKey); found != metadata.end())
    index.identity = found->second;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string name = shard_name(i, shards.size());
    for (const TensorSource& tensor : shards[i]) {
      if (!index.files.emplace(tensor.name, name).second)
        wrong_use("each tensor must have a name of its own, but '{}' is there twice",
                  shown(tensor.name));
      index.total_size +=
          element_count(tensor.shape).value_or(0) * dtype_size(tensor.stored_dtype());
    }
    write_safetensors(directory + "/" + name, shards[i], metadata);
  }
  if (shards.size() > 1) write_file(directory + "/" + kIndexFile, write_tensor_index(index));
}

void write_tensor_directory(const std::string& path, std::span<const TensorSource> tensors,
                            std::uint64_t max_shard_bytes, const Metadata& metadata) {
  replace_directory(path, {.write =
                               [&](const std::string& directory) {
                                 write_tensor_files(directory, tensors, max_shard_bytes, metadata);
                               },
                           .replaces = is_weights_file});
}

}  // namespace shellgame
