#include "shellgame/models/checkpoint.h"

#include <ATen/Functions.h>

#include <set>

#include "shellgame/episodes/task_record.h"
#include "shellgame/system/files.h"
#include "shellgame/system/replace_directory.h"
#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"
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

Json read_config_json(const std::string& path) { return parse_json(read_file(path), path); }

// Weights of one model under the configuration of another would load without a word.
void check_identity(const std::string& directory, const TensorDirectory& files) {
  const std::string path = directory + "/config.json";
  const Json config = read_config_json(path);
  const auto found = config.find(kIdentityKey);
  if (found == config.end() || files.identity().empty() || *found == files.identity()) return;
  throw InputError(path, fmt::format("the configuration must be of the same model as the weights "
                                     "beside it, but is of another model: its {} is {}, not \"{}\"",
                                     kIdentityKey, found->dump(-1, ' ', true), files.identity()));
}

}  // namespace

ModelConfig read_config(const std::string& directory) {
  const std::string path = directory + "/config.json";
  Json json = read_config_json(path);
  if (json.is_object()) json.erase(kIdentityKey);  // of the files, not of the model
  try {
    return ModelConfig(std::move(json), path);
  } catch (const Json::exception& error) {
    throw InputError(path, fmt::format("a key has a value of the wrong kind: {}", error.what()));
  }
}

Model load_model(const std::string& directory) {
  Model model(read_config(directory), {.kind = InitKind::kUnset});
  const TensorDirectory files = TensorDirectory::open(directory);
  check_identity(directory, files);
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

void write_model_files(const Model& model, const std::string& directory,
                       const SaveOptions& options) {
  if (options.lexemes) write_lexeme_tokenizer(directory);
  if (!options.tokenizer.empty()) write_file(directory + "/tokenizer.json", options.tokenizer);
  if (!options.task.empty()) write_file(directory + "/" + kTaskRecord, options.task);
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
  Json config = model.config().json();
  config["dtype"] = torch_name(options.dtype);
  config.erase("torch_dtype");
  config.erase(kIdentityKey);
  const std::string identity = identity_of(sources, config.dump());
  config[kIdentityKey] = identity;
  write_file(directory + "/config.json", config.dump(2) + "\n");
  Metadata metadata = kPyTorchMetadata;
  metadata[kIdentityKey] = identity;
  write_tensor_files(directory, sources, options.max_shard_bytes, metadata);
}

void save_model(const Model& model, const std::string& directory, const SaveOptions& options) {
  torch_name(options.dtype);
  replace_directory(
      directory,
      {.write = [&](const std::string& path) { write_model_files(model, path, options); },
       .replaces = is_model_file});
}

}  // namespace shellgame
