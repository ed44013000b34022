// Writing safetensors files.
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>

#include "shellgame/system/files.h"
#include "shellgame/tensors/safetensors.h"
#include "shellgame/text/error.h"
#include "shellgame/text/strict_json.h"
#include "shellgame/text/utf8.h"

namespace shellgame {
namespace {

void check_text(const std::string& text) {
  if (find_invalid_utf8(text) != std::string::npos)
    wrong_use("names and metadata of tensors must be UTF-8, but '{}' is not",
              shown(replace_invalid_utf8(text)));
}

void check_source(const TensorSource& source) {
  check_text(source.name);
  const std::string name = shown(source.name);
  if (source.name == "__metadata__") wrong_use("no tensor may have the name '__metadata__'");
  const auto elements = element_count(source.shape);
  if (!elements || *elements > (std::uint64_t{1} << 60) || source.shape.size() > kMaxAxes) {
    wrong_use("tensor '{}' must have at most {} axes and 2^60 elements, not the shape {}", name,
              kMaxAxes, shape_text(source.shape));
  }
  if (*elements > 0 && source.data == nullptr) wrong_use("tensor '{}' must have numbers", name);
  if (source.dtype != source.stored_dtype() &&
      (!is_convertible(source.dtype) || !is_convertible(source.stored_dtype()))) {
    wrong_use("tensor '{}' cannot be stored as {}: it holds {}", name,
              dtype_name(source.stored_dtype()), dtype_name(source.dtype));
  }
}

std::string header_text(std::span<const TensorSource* const> tensors, const Metadata& metadata) {
  std::string json = "{";
  if (!metadata.empty()) {
    json += "\"__metadata__\":{";
    for (const auto& [key, value] : metadata) {
      check_text(key);
      check_text(value);
      json += json_text(key) + ":" + json_text(value) + ",";
    }
    json.back() = '}';
    json += ',';
  }
  std::uint64_t begin = 0;
  for (const TensorSource* tensor : tensors) {
    const std::uint64_t end =
        begin + *element_count(tensor->shape) * dtype_size(tensor->stored_dtype());
    json += fmt::format("{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}},",
                        json_text(tensor->name), dtype_name(tensor->stored_dtype()),
                        fmt::join(tensor->shape, ","), begin, end);
    begin = end;
  }
  if (json.back() == ',') json.pop_back();
  json += '}';
  json.resize((json.size() + 7) / 8 * 8, ' ');  // so that the numbers are aligned
  if (json.size() > kMaxSafetensorsHeader) {
    wrong_use("a safetensors header must have at most {} bytes, but these names and shapes need {}",
              kMaxSafetensorsHeader, json.size());
  }
  return json;
}

void write_numbers(const std::function<void(std::string_view)>& write, const TensorSource& source) {
  const std::uint64_t elements = *element_count(source.shape);
  const auto* data = static_cast<const char*>(source.data);
  if (elements == 0) return;
  if (source.dtype == source.stored_dtype()) {
    write({data, static_cast<std::size_t>(elements * dtype_size(source.dtype))});
    return;
  }
  const std::size_t width = dtype_size(source.stored_dtype());
  std::string piece(std::min<std::uint64_t>(kConvertedAtOnce, elements) * width, '\0');
  for (std::uint64_t done = 0; done < elements;) {
    const std::size_t count = std::min<std::uint64_t>(kConvertedAtOnce, elements - done);
    convert(source.dtype, data + done * dtype_size(source.dtype), source.stored_dtype(),
            piece.data(), count);
    write({piece.data(), count * width});
    done += count;
  }
}

}  // namespace

void write_safetensors(const std::function<void(std::string_view)>& write,
                       std::span<const TensorSource> tensors, const Metadata& metadata) {
  std::unordered_set<std::string_view> names;
  std::vector<const TensorSource*> order;
  for (const TensorSource& source : tensors) {
    check_source(source);
    if (!names.insert(source.name).second)
      wrong_use("each tensor must have a name of its own, but '{}' is there twice",
                shown(source.name));
    order.push_back(&source);
  }
  std::ranges::sort(order, [](const TensorSource* a, const TensorSource* b) {
    return a->stored_dtype() != b->stored_dtype() ? a->stored_dtype() > b->stored_dtype()
                                                  : a->name < b->name;
  });
  const std::string header = header_text(order, metadata);
  const std::uint64_t length = header.size();
  write({reinterpret_cast<const char*>(&length), sizeof length});
  write(header);
  for (const TensorSource* source : order) write_numbers(write, *source);
}

void write_safetensors(const std::string& path, std::span<const TensorSource> tensors,
                       const Metadata& metadata) {
  OutputFile file(path);
  write_safetensors([&](std::string_view bytes) { file.write(bytes); }, tensors, metadata);
  file.commit();
}

}  // namespace shellgame
