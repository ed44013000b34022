#include "shellgame/train/run_checkpoint.h"

#include <ATen/Functions.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "shellgame/system/checksum.h"
#include "shellgame/system/error.h"
#include "shellgame/system/files.h"

namespace shellgame {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kPrefix = "step-";
constexpr const char* kRecord = "trainer.json";
constexpr const char* kTensors = "trainer.safetensors";
constexpr int kFormat = 1;

// To the disk, so that a rename never uncovers what a power failure has taken.
void sync_path(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

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
    const std::string kind = kinds.value(stored.name, "");
    if (kind == "int64") value = value.to(at::kLong);
    if (kind == "bfloat16") value = value.to(at::kBFloat16);
    tensors[stored.name] = value;
  }
  return tensors;
}

std::uint32_t checksum_of(const std::string& path) { return crc32c(MappedFile(path).bytes()); }

// Throws Error with the reason if the checkpoint is not whole.
RunCheckpoint read_checkpoint(const std::string& path, const Model& model) {
  const Json record = Json::parse(read_file(path + "/" + kRecord), nullptr, false);
  if (!record.is_object() || record.value("format", 0) != kFormat)
    fail("{} must be a record of format {}", kRecord, kFormat);
  const Json body = record.at("record");
  if (crc32c(body.dump()) != record.at("checksum").get<std::uint32_t>())
    fail("{} must have the checksum that it states", kRecord);
  for (const auto& [name, sum] : body.at("files").items()) {
    if (checksum_of(path + "/" + name) != sum.get<std::uint32_t>())
      fail("{} must have the checksum that was written", name);
  }
  const Model stored = load_model(path);
  for (std::size_t i = 0; i < model.parameters().size(); ++i) {
    at::Tensor value = model.parameters()[i].value.detach();
    value.copy_(stored.parameter(model.parameters()[i].name).value.detach());
  }
  return {.step = body.at("step").get<std::int64_t>(),
          .place = body.at("place"),
          .tensors = read_tensors(path + "/" + kTensors, body.at("kinds"))};
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
  const std::string path = checkpoint_path(checkpoints, checkpoint.step);
  const std::string beside = checkpoints + "/.partial";
  std::error_code ignored;
  fs::remove_all(beside, ignored);
  try {
    fs::create_directories(checkpoints);
    save_model(model, beside, options);
    Json kinds = Json::object(), files = Json::object();
    write_tensors(beside + "/" + kTensors, checkpoint.tensors, kinds);
    for (const auto& entry : fs::directory_iterator(beside)) {
      files[entry.path().filename().string()] = checksum_of(entry.path().string());
      sync_path(entry.path().string());
    }
    const Json body = {
        {"step", checkpoint.step}, {"place", checkpoint.place}, {"kinds", kinds}, {"files", files}};
    const Json record = {{"format", kFormat}, {"record", body}, {"checksum", crc32c(body.dump())}};
    write_file(beside + "/" + kRecord, record.dump(1) + "\n");
    sync_path(beside + "/" + kRecord);
    sync_path(beside);
    fs::remove_all(path);  // a damaged one of the same step
    fs::rename(beside, path);
    sync_path(checkpoints);
  } catch (const fs::filesystem_error& error) {
    fs::remove_all(beside, ignored);
    fail("the checkpoint '{}' cannot be written: {}", path, error.code().message());
  } catch (...) {
    fs::remove_all(beside, ignored);
    throw;
  }
  const auto steps = checkpoint_steps(checkpoints);
  for (std::size_t i = static_cast<std::size_t>(keep); i < steps.size(); ++i)
    fs::remove_all(checkpoint_path(checkpoints, steps[i]), ignored);
}

std::optional<RunCheckpoint> read_newest_checkpoint(
    const std::string& checkpoints, const Model& model,
    const std::function<void(const std::string&)>& damaged) {
  for (const std::int64_t step : checkpoint_steps(checkpoints)) {
    const std::string path = checkpoint_path(checkpoints, step);
    try {
      return read_checkpoint(path, model);
    } catch (const std::exception& error) {
      damaged(fmt::format("the checkpoint '{}' is damaged ({}) and is passed over", path,
                          error.what()));
    }
  }
  return std::nullopt;
}

}  // namespace shellgame
