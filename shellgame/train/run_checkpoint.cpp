#include "shellgame/train/run_checkpoint.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "shellgame/models/finite.h"
#include "shellgame/system/checksum.h"
#include "shellgame/system/files.h"
#include "shellgame/system/replace_directory.h"
#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"
#include "shellgame/text/strict_json.h"

namespace shellgame {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kPrefix = "step-";
constexpr const char* kRecord = "trainer.json";
constexpr const char* kTensors = "trainer.safetensors";
constexpr int kFormat = 1;

Dtype dtype_of(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kDouble ? Dtype::kF64 : Dtype::kF32;
}

// Numbers of other kinds (positions) travel as F64, and their kind is in the record.
void write_tensors(const std::string& path, const std::map<std::string, at::Tensor>& tensors,
                   Json& kinds) {
  std::vector<at::Tensor> held;
  std::vector<TensorSource> sources;
  for (const auto& [name, tensor] : tensors) {
    at::Tensor value = tensor.detach().to(at::kCPU);
    if (value.scalar_type() == at::kLong) {
      kinds[name] = "int64";
      value = value.to(at::kDouble);
    } else if (value.scalar_type() != at::kDouble) {
      if (value.scalar_type() == at::kBFloat16) kinds[name] = "bfloat16";
      value = value.to(at::kFloat);
    }
    held.push_back(value.contiguous());
    sources.push_back({.name = name,
                       .dtype = dtype_of(value),
                       .shape = value.sizes().vec(),
                       .data = held.back().data_ptr()});
  }
  write_safetensors(path, sources);
}

std::map<std::string, at::Tensor> read_tensors(const std::string& path, const Json& kinds) {
  const SafetensorsFile file(path);
  std::map<std::string, at::Tensor> tensors;
  for (const StoredTensor& stored : file.tensors()) {
    const bool wide = stored.dtype == Dtype::kF64;
    at::Tensor value = at::empty(stored.shape, wide ? at::kDouble : at::kFloat);
    file.read(stored, stored.dtype, value.data_ptr());
    const Json kind = kinds.value(stored.name, Json(""));
    if (kind == "int64") value = value.to(at::kLong);
    if (kind == "bfloat16") value = value.to(at::kBFloat16);
    tensors[stored.name] = value;
  }
  return tensors;
}

std::uint32_t checksum_of(const std::string& path) { return crc32c(MappedFile(path).bytes()); }

// A value of trainer.json, which must be there and of its kind.
const Json& field(const Json& object, const char* key, bool (Json::*is)() const noexcept,
                  const char* kind) {
  const auto found = object.find(key);
  if (found == object.end() || !((*found).*is)()) fail("{} must have {} '{}'", kRecord, kind, key);
  return *found;
}

// The record, after all checksums. Throws Error with the reason if the checkpoint is not whole.
Json read_record(const std::string& path) {
  const std::string file = path + "/" + kRecord;
  const Json record = parse_json(read_file(file), kRecord);
  if (!record.is_object() || record.value("format", Json()) != kFormat)
    fail("{} must be a record of format {}", kRecord, kFormat);
  Json body = field(record, "record", &Json::is_object, "an object");
  if (field(record, "checksum", &Json::is_number_unsigned, "a number") != crc32c(body.dump()))
    fail("{} must have the checksum that it states", kRecord);
  const Json& files = field(body, "files", &Json::is_object, "an object");
  for (const auto& [name, sum] : files.items()) {
    if (name.find('/') != std::string::npos || !sum.is_number_unsigned())
      fail("{} must give each file beside it a checksum, not '{}'", kRecord, shown(name));
    if (sum != checksum_of(path + "/" + name))
      fail("{} must have the checksum that was written", shown(name));
  }
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if ((is_model_file(name) || name == kTensors) && !files.contains(name))
      fail("{} must have a checksum of {}", kRecord, name);
  }
  return body;
}

RunCheckpoint read_checkpoint(const std::string& path, std::int64_t step, const Model& model) {
  const Json body = read_record(path);
  if (field(body, "step", &Json::is_number_unsigned, "a number") != step)
    fail("{} must be of step {}, as its directory says, not of {}", kRecord, step,
         body["step"].dump());
  const Json& place = field(body, "place", &Json::is_object, "an object");
  const Json& kinds = field(body, "kinds", &Json::is_object, "an object");
  const Model stored = load_model(path);
  if (const Parameter* parameter = first_not_finite(stored))
    fail("its weights must be finite, and {} is not", parameter->name);
  if (stored.parameters().size() != model.parameters().size())
    fail("it must have the {} parameters of the experiment's model, and has {}",
         model.parameters().size(), stored.parameters().size());
  for (const Parameter& parameter : model.parameters()) {
    const at::Tensor& value = stored.parameter(parameter.name).value;
    if (value.sizes() != parameter.value.sizes())
      fail("the parameter {} must have the shape of the experiment's model", parameter.name);
    parameter.value.detach().copy_(value.detach());
  }
  return {.step = step, .place = place, .tensors = read_tensors(path + "/" + kTensors, kinds)};
}

// Removes what is older than the last `keep` whole ones. `written` is known to be whole.
void remove_old(const std::string& checkpoints, std::int64_t written, int keep) {
  int whole = 0;
  for (const std::int64_t step : checkpoint_steps(checkpoints)) {
    const std::string path = checkpoint_path(checkpoints, step);
    std::error_code ignored;
    if (whole == keep) {
      fs::remove_all(path, ignored);
      continue;
    }
    try {
      if (step != written) read_record(path);
      ++whole;
    } catch (const std::exception&) {  // does not count, and stays for who looks into it
    }
  }
}

}  // namespace

std::string checkpoint_path(const std::string& checkpoints, std::int64_t step) {
  return fmt::format("{}/{}{:08}", checkpoints, kPrefix, step);
}

std::vector<std::int64_t> checkpoint_steps(const std::string& checkpoints) {
  std::vector<std::int64_t> steps;
  if (!fs::is_directory(checkpoints)) return steps;
  for (const auto& entry : fs::directory_iterator(checkpoints)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    std::int64_t step = 0;
    const char* const first = name.data() + std::string_view(kPrefix).size();
    const auto [end, error] = std::from_chars(first, name.data() + name.size(), step);
    if (error == std::errc() && end == name.data() + name.size()) steps.push_back(step);
  }
  std::ranges::sort(steps, std::greater());
  return steps;
}

void write_checkpoint(const std::string& checkpoints, const RunCheckpoint& checkpoint,
                      const Model& model, const SaveOptions& options, int keep) {
  if (const Parameter* parameter = first_not_finite(model))
    fail("a checkpoint must have finite weights, and {} is not finite", parameter->name);
  const auto write = [&](const std::string& beside) {
    write_model_files(model, beside, options);
    Json kinds = Json::object(), files = Json::object();
    write_tensors(beside + "/" + kTensors, checkpoint.tensors, kinds);
    for (const auto& entry : fs::directory_iterator(beside))
      files[entry.path().filename().string()] = checksum_of(entry.path().string());
    const Json body = {
        {"step", checkpoint.step}, {"place", checkpoint.place}, {"kinds", kinds}, {"files", files}};
    const Json record = {{"format", kFormat}, {"record", body}, {"checksum", crc32c(body.dump())}};
    write_file(beside + "/" + kRecord, record.dump(1) + "\n");
  };
  // A damaged one of the same step, or that of a run which was stopped at this step, stays until
  // this one is there.
  replace_directory(checkpoint_path(checkpoints, checkpoint.step),
                    {.write = write, .replaces = [](std::string_view) { return true; }});
  remove_old(checkpoints, checkpoint.step, keep);
}

std::optional<std::int64_t> newest_whole_checkpoint(const std::string& checkpoints) {
  for (const std::int64_t step : checkpoint_steps(checkpoints)) {
    const std::string path = checkpoint_path(checkpoints, step);
    try {
      read_record(path);
      if (first_not_finite(load_model(path)) == nullptr) return step;
    } catch (const std::exception&) {
    }
  }
  return std::nullopt;
}

std::optional<RunCheckpoint> read_newest_checkpoint(
    const std::string& checkpoints, const Model& model,
    const std::function<void(const std::string&)>& damaged,
    const std::function<void(const RunCheckpoint&)>& use) {
  for (const std::int64_t step : checkpoint_steps(checkpoints)) {
    const std::string path = checkpoint_path(checkpoints, step);
    try {
      RunCheckpoint checkpoint = read_checkpoint(path, step, model);
      if (use) use(checkpoint);
      return checkpoint;
    } catch (const std::exception& error) {
      damaged(fmt::format("the checkpoint '{}' is damaged ({}) and is passed over", path,
                          error.what()));
    }
  }
  return std::nullopt;
}

}  // namespace shellgame
