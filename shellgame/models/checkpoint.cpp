#include "shellgame/models/checkpoint.h"

#include <ATen/Functions.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "shellgame/system/error.h"
#include "shellgame/system/files.h"
#include "shellgame/tokens/lexeme_tokenizer.h"

namespace shellgame {
namespace {

using Json = Options::Json;

// Names of older files: (end of our name, end of theirs).
const std::pair<const char*, const char*> kAliases[] = {{".o_norm.weight", ".norm.weight"}};

std::string name_in_file(const TensorDirectory& files, const std::string& name) {
  if (files.find(name) != nullptr) return name;
  for (const auto& [own, old] : kAliases) {
    if (!name.ends_with(own)) continue;
    std::string alias = name.substr(0, name.size() - std::string(own).size()) + old;
    if (files.find(alias) != nullptr) return alias;
  }
  return name;
}

// Tensors that other tools store although they carry nothing.
bool is_redundant(const std::string& name, const ModelSpec& spec) {
  return name.ends_with("rotary.inv_freq") || name.ends_with("rotary_emb.inv_freq") ||
         (spec.tied && name == spec.names.head + ".weight");
}

const char* torch_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return "float64";
    case Dtype::kF32:
      return "float32";
    case Dtype::kBf16:
      return "bfloat16";
    case Dtype::kF16:
      return "float16";
    default:
      wrong_use("a checkpoint's numbers must be F64, F32, BF16 or F16, not {}", dtype_name(dtype));
  }
}

void remove_quietly(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

void write_directory(const Model& model, const std::string& directory, const SaveOptions& options) {
  Json config = model.config().json();
  config["dtype"] = torch_name(options.dtype);
  config.erase("torch_dtype");
  write_file(directory + "/config.json", config.dump(2) + "\n");
  if (options.lexemes) write_lexeme_tokenizer(directory);
  if (!options.tokenizer.empty()) write_file(directory + "/tokenizer.json", options.tokenizer);
  std::vector<at::Tensor> held;
  std::vector<TensorSource> sources;
  for (const Parameter& parameter : model.parameters()) {
    at::Tensor value = parameter.value.detach().to(at::kCPU).contiguous();
    if (value.scalar_type() != at::kDouble) value = value.to(at::kFloat);
    held.push_back(value);
    sources.push_back({.name = parameter.name,
                       .dtype = value.scalar_type() == at::kDouble ? Dtype::kF64 : Dtype::kF32,
                       .shape = value.sizes().vec(),
                       .data = value.data_ptr(),
                       .stored = options.dtype});
  }
  write_tensor_directory(directory, sources, options.max_shard_bytes);
}

}  // namespace

ModelConfig read_config(const std::string& directory) {
  const std::string path = directory + "/config.json";
  const std::string text = read_file(path);
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {
    throw InputError(path, fmt::format("the file must be JSON: {}", error.what()));
  }
  try {
    return ModelConfig(std::move(json), path);
  } catch (const Json::exception& error) {
    throw InputError(path, fmt::format("a key has a value of the wrong kind: {}", error.what()));
  }
}

Model load_model(const std::string& directory) {
  Model model(read_config(directory), {.kind = InitKind::kUnset});
  const TensorDirectory files = TensorDirectory::open(directory);
  std::set<std::string> used;
  bool all_double = true;
  for (const Parameter& parameter : model.parameters()) {
    const std::string name = name_in_file(files, parameter.name);
    all_double = all_double && files.at(name).dtype == Dtype::kF64;
  }
  if (all_double) model.to(at::kDouble);
  for (const Parameter& parameter : model.parameters()) {
    const std::string name = name_in_file(files, parameter.name);
    const at::Tensor value = parameter.value.detach();
    files.read(name, value.sizes(), all_double ? Dtype::kF64 : Dtype::kF32, value.data_ptr());
    used.insert(name);
  }
  for (const StoredTensor* tensor : files.tensors()) {
    if (used.contains(tensor->name) || is_redundant(tensor->name, model.config().spec())) continue;
    throw InputError(directory,
                     fmt::format("the model of config.json has no parameter '{}', but the file has",
                                 tensor->name));
  }
  return model;
}

void write_lexeme_tokenizer(const std::string& directory) {
  write_file(directory + "/tokenizer.json", lexeme_tokenizer_json());
  const Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                       {"clean_up_tokenization_spaces", false},
                       {"model_input_names", {"input_ids", "attention_mask"}}};
  write_file(directory + "/tokenizer_config.json", config.dump(2) + "\n");
}

void save_model(const Model& model, const std::string& directory, const SaveOptions& options) {
  namespace fs = std::filesystem;
  torch_name(options.dtype);
  if (fs::exists(directory)) {
    if (!fs::is_directory(directory)) fail("'{}' must be a directory", directory);
    write_directory(model, directory, options);
    return;
  }
  const std::string beside = fmt::format("{}.{}.partial", directory, getpid());
  try {
    fs::create_directories(beside);
    write_directory(model, beside, options);
    fs::rename(beside, directory);
  } catch (const fs::filesystem_error& error) {
    remove_quietly(beside);
    fail("the directory '{}' cannot be written: {}", directory, error.code().message());
  } catch (...) {
    remove_quietly(beside);
    throw;
  }
}

}  // namespace shellgame
