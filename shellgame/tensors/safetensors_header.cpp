// The header of a safetensors file, checked.
#include <algorithm>
#include <cstring>
#include <limits>

#include "shellgame/tensors/safetensors.h"
#include "shellgame/text/error.h"
#include "shellgame/text/strict_json.h"

namespace shellgame {
namespace {

constexpr std::string_view kMetadataKey = "__metadata__";

// Takes the header's values one by one: {name: {"dtype": text, "shape": [..], "data_offsets":
// [begin, end]}, "__metadata__": {text: text}}.
class HeaderVisitor : public JsonVisitor {
 public:
  HeaderVisitor(const std::string& file, SafetensorsHeader& header)
      : file_(file), header_(header) {}

  void object(const JsonPath& path) override {
    if (path.size() > 1) refuse(path);
    if (path.empty() || path[0] == kMetadataKey) return;
    header_.tensors.emplace_back().name = path[0];
    has_dtype_ = has_shape_ = false;
    offsets_ = 0;
  }

  void array(const JsonPath& path) override {
    if (path.size() != 2 || path[0] == kMetadataKey) refuse(path);
    if (path[1] == "shape")
      has_shape_ = true;
    else if (path[1] != "data_offsets")
      refuse(path);
  }

  void text(const JsonPath& path, const std::string& value) override {
    if (path.size() != 2) refuse(path);
    if (path[0] == kMetadataKey) {
      header_.metadata[path[1]] = value;
      return;
    }
    if (path[1] != "dtype") refuse(path);
    const auto dtype = parse_dtype(value);
    if (!dtype) wrong(fmt::format("has the dtype '{}', which is not known here", shown(value)));
    header_.tensors.back().dtype = *dtype;
    has_dtype_ = true;
  }

  void whole(const JsonPath& path, std::uint64_t value) override {
    if (path.size() != 3 || path[0] == kMetadataKey) refuse(path);
    StoredTensor& tensor = header_.tensors.back();
    if (path[1] == "shape") {
      if (tensor.shape.size() == kMaxAxes)
        wrong(fmt::format("must have at most {} axes", kMaxAxes));
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        wrong(fmt::format("must have axes below 2^63, not {}", value));
      tensor.shape.push_back(static_cast<std::int64_t>(value));
    } else {
      if (offsets_ == 2) wrong("must have two data_offsets, not more");
      (offsets_ == 0 ? tensor.begin : tensor.end) = value;
      ++offsets_;
    }
  }

  void other(const JsonPath& path) override { refuse(path); }

  void end_object(const JsonPath& path) override {
    if (path.size() != 1 || path[0] == kMetadataKey) return;
    if (!has_dtype_) wrong("must have a dtype");
    if (!has_shape_) wrong("must have a shape");
    if (offsets_ != 2) wrong("must have two data_offsets, its begin and its end");
  }

 private:
  [[noreturn]] void wrong(const std::string& sentence) const {
    throw InputError(file_,
                     fmt::format("tensor '{}' {}", shown(header_.tensors.back().name), sentence));
  }

  // Something stands at a place where it may not.
  [[noreturn]] void refuse(const JsonPath& path) const {
    if (path.empty()) throw InputError(file_, "the header must be a JSON object");
    if (path[0] == kMetadataKey)
      throw InputError(file_, fmt::format("'{}' must be an object of texts", kMetadataKey));
    throw InputError(
        file_, fmt::format("tensor '{}' must be an object of a dtype (text), a shape and "
                           "data_offsets (lists of whole numbers from 0 on) and nothing else{}",
                           shown(path[0]),
                           path.size() > 1 ? fmt::format(", but see '{}'", shown(path[1])) : ""));
  }

  const std::string& file_;
  SafetensorsHeader& header_;
  bool has_dtype_ = false, has_shape_ = false;  // of the last tensor
  int offsets_ = 0;
};

// The tensors, sorted by place, must fill the data one after the other.
void check_places(const std::vector<StoredTensor>& tensors, std::uint64_t data_bytes,
                  const std::string& file) {
  std::uint64_t end = 0;
  for (const StoredTensor& tensor : tensors) {
    const auto wrong = [&](const std::string& sentence) {
      throw InputError(file, fmt::format("tensor '{}' {}", shown(tensor.name), sentence));
    };
    if (tensor.begin > tensor.end) {
      wrong(fmt::format("must have data_offsets that rise, not {} and then {}", tensor.begin,
                        tensor.end));
    }
    if (tensor.begin != end) {
      wrong(
          fmt::format("must begin at byte {} of the data, where the one before it ends, not at "
                      "byte {}",
                      end, tensor.begin));
    }
    const auto elements = element_count(tensor.shape);
    if (!elements ||
        *elements > std::numeric_limits<std::int64_t>::max() / dtype_size(tensor.dtype))
      wrong(fmt::format("must be smaller than 2^63 bytes, but has the shape {}",
                        shape_text(tensor.shape)));
    const std::uint64_t bytes = *elements * dtype_size(tensor.dtype);
    if (tensor.bytes() != bytes) {
      wrong(fmt::format("of the shape {} and the dtype {} must have {} bytes, not {}",
                        shape_text(tensor.shape), dtype_name(tensor.dtype), bytes, tensor.bytes()));
    }
    if (tensor.end > data_bytes) {
      wrong(fmt::format("must end within the {} bytes of the data, not at byte {}", data_bytes,
                        tensor.end));
    }
    end = tensor.end;
  }
  if (end != data_bytes) {
    throw InputError(file, fmt::format("the tensors must fill the data, but they end at byte {} of "
                                       "its {} bytes",
                                       end, data_bytes));
  }
}

}  // namespace

std::uint64_t safetensors_header_length(std::string_view first, std::uint64_t file_size,
                                        const std::string& file) {
  std::uint64_t length = 0;
  if (first.size() < sizeof length || file_size < sizeof length) {
    throw InputError(file, fmt::format("a safetensors file must begin with 8 bytes that give the "
                                       "header's length, but it has {} bytes",
                                       file_size));
  }
  std::memcpy(&length, first.data(), sizeof length);
  if (length > kMaxSafetensorsHeader) {
    throw InputError(file, fmt::format("the header must have at most {} bytes, not {}",
                                       kMaxSafetensorsHeader, length));
  }
  if (length > file_size - sizeof length) {
    throw InputError(file, fmt::format("the header must end within the file, but it has {} bytes "
                                       "and the file {}",
                                       length, file_size));
  }
  return length;
}

SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                           const std::string& file) {
  if (!json.starts_with('{')) throw InputError(file, "the header must begin with '{'");
  SafetensorsHeader header;
  header.data_begin = sizeof(std::uint64_t) + json.size();
  HeaderVisitor visitor(file, header);
  constexpr std::size_t kDepth = 3;  // the header, a tensor, its shape
  walk_json(json, file, "the header", kDepth, visitor);
  // The header may name tensors in any order; empty ones stand before what begins at their place.
  std::ranges::stable_sort(header.tensors, {}, [](const StoredTensor& tensor) {
    return std::make_pair(tensor.begin, tensor.end);
  });
  check_places(header.tensors, data_bytes, file);
  return header;
}

}  // namespace shellgame
