#include "shellgame/tensors/tensor_index.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "shellgame/text/error.h"
#include "shellgame/text/strict_json.h"

namespace shellgame {
namespace {

constexpr std::string_view kWeightMap = "weight_map";
constexpr std::size_t kDepth = 16;  // only "metadata", which is not read, can be deep

bool is_plain_file_name(std::string_view name) {
  return name.ends_with(".safetensors") && !name.starts_with('.') && name.size() < 256 &&
         std::ranges::none_of(name, [](char c) {
           return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
         });
}

class IndexVisitor : public JsonVisitor {
 public:
  IndexVisitor(const std::string& file, TensorIndex& index) : file_(file), index_(index) {}

  void object(const JsonPath& path) override {
    if (path.size() == 1 && path[0] == kWeightMap) has_map_ = true;
    if (!path.empty()) value(path, path.size() == 1);
  }
  void end_object(const JsonPath&) override {}
  void array(const JsonPath& path) override { value(path, false); }
  void text(const JsonPath& path, const std::string& name) override {
    value(path, path.size() == 2);
    if (path.size() == 2 && path[0] == "metadata" && path[1] == kIdentityKey)
      index_.identity = name;
    if (path.empty() || path[0] != kWeightMap) return;
    if (!is_plain_file_name(name)) {
      throw InputError(file_,
                       fmt::format("the file of tensor '{}' must be a plain name that ends in "
                                   ".safetensors, not '{}'",
                                   shown(path[1]), shown(name)));
    }
    index_.files[path[1]] = name;
  }
  void whole(const JsonPath& path, std::uint64_t number) override {
    value(path, false);
    if (path.size() == 2 && path[0] == "metadata" && path[1] == "total_size")
      index_.total_size = number;
  }
  void other(const JsonPath& path) override { value(path, false); }

  void finish() const {
    if (!has_map_) throw InputError(file_, "the index must have a 'weight_map'");
  }

 private:
  // Whatever is outside of the map is not ours.
  void value(const JsonPath& path, bool fits_map) const {
    if (path.empty()) throw InputError(file_, "the index must be a JSON object");
    if (path[0] == kWeightMap && !fits_map) {
      throw InputError(file_,
                       "'weight_map' must be an object that gives each tensor's name the name "
                       "of its file");
    }
  }

  const std::string& file_;
  TensorIndex& index_;
  bool has_map_ = false;
};

}  // namespace

TensorIndex parse_tensor_index(std::string_view json, const std::string& file) {
  TensorIndex index;
  IndexVisitor visitor(file, index);
  walk_json(json, file, "the index", kDepth, visitor);
  visitor.finish();
  return index;
}

std::string write_tensor_index(const TensorIndex& index) {
  nlohmann::json json = {{"metadata", {{"total_size", index.total_size}}},
                         {kWeightMap, index.files}};
  if (!index.identity.empty()) json["metadata"][kIdentityKey] = index.identity;
  return json.dump(2, ' ', true) + "\n";  // as Python's json writes it
}

std::vector<std::vector<TensorSource>> cut_into_shards(std::span<const TensorSource> tensors,
                                                       std::uint64_t max_bytes) {
  std::vector<std::vector<TensorSource>> shards(1);
  std::uint64_t filled = 0;
  for (const TensorSource& tensor : tensors) {
    const std::uint64_t bytes =
        element_count(tensor.shape).value_or(0) * dtype_size(tensor.stored_dtype());
    if (!shards.back().empty() && (filled > max_bytes || bytes > max_bytes - filled)) {
      shards.emplace_back();
      filled = 0;
    }
    shards.back().push_back(tensor);
    filled += bytes;
  }
  return shards;
}

std::string shard_name(std::size_t number, std::size_t count) {
  if (count == 1) return kModelFile;
  return fmt::format("model-{:05}-of-{:05}.safetensors", number + 1, count);
}

}  // namespace shellgame
