#include "shellgame/tensors/safetensors.h"

#include <algorithm>

#include "shellgame/text/error.h"
#include "shellgame/text/strict_json.h"

namespace shellgame {
namespace {

// Numbers that are converted at once: larger than what a system call costs, small for the cache.
SafetensorsHeader read_header(const InputFile& file) {
  std::string first(std::min<std::uint64_t>(file.size(), sizeof(std::uint64_t)), '\0');
  file.read(0, std::as_writable_bytes(std::span(first)));
  const std::uint64_t length = safetensors_header_length(first, file.size(), file.path());
  std::string json(length, '\0');
  file.read(sizeof length, std::as_writable_bytes(std::span(json)));
  return parse_safetensors_header(json, file.size() - sizeof length - length, file.path());
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path)
    : file_(std::make_unique<const InputFile>(path)), header_(read_header(*file_)) {
  places_.reserve(header_.tensors.size());
  for (std::size_t i = 0; i < header_.tensors.size(); ++i)
    places_.emplace(header_.tensors[i].name, i);
}

const StoredTensor* SafetensorsFile::find(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &header_.tensors[found->second];
}

const StoredTensor& SafetensorsFile::at(std::string_view name) const {
  const StoredTensor* tensor = find(name);
  if (tensor == nullptr)
    throw InputError(path(), fmt::format("the file must hold the tensor '{}'", shown(name)));
  return *tensor;
}

void SafetensorsFile::read(const StoredTensor& tensor, Dtype dtype, void* out) const {
  const std::uint64_t place = header_.data_begin + tensor.begin;
  if (dtype == tensor.dtype) {
    file_->read(place, {static_cast<std::byte*>(out), static_cast<std::size_t>(tensor.bytes())});
    return;
  }
  if (!is_convertible(tensor.dtype) || !is_convertible(dtype)) {
    throw InputError(
        path(), fmt::format("tensor '{}' cannot be read as {}: it holds {}", shown(tensor.name),
                            dtype_name(dtype), dtype_name(tensor.dtype)));
  }
  const std::size_t width = dtype_size(tensor.dtype);
  std::vector<std::byte> piece(std::min<std::uint64_t>(kConvertedAtOnce, tensor.elements()) *
                               width);
  for (std::uint64_t done = 0; done < tensor.elements();) {
    const std::size_t count = std::min<std::uint64_t>(kConvertedAtOnce, tensor.elements() - done);
    file_->read(place + done * width, std::span(piece).first(count * width));
    convert(tensor.dtype, piece.data(), dtype,
            static_cast<std::byte*>(out) + done * dtype_size(dtype), count);
    done += count;
  }
}

std::vector<float> SafetensorsFile::floats(std::string_view name) const {
  const StoredTensor& tensor = at(name);
  std::vector<float> values(tensor.elements());
  read(tensor, Dtype::kF32, values.data());
  return values;
}

std::span<const std::byte> SafetensorsFile::view(const StoredTensor& tensor) const {
  return file_->map().subspan(header_.data_begin + tensor.begin, tensor.bytes());
}

const void* SafetensorsFile::checked_view(const StoredTensor& tensor, Dtype dtype,
                                          std::size_t alignment) const {
  const auto wrong = [&](const std::string& sentence) {
    throw InputError(path(), fmt::format("tensor '{}' {}", shown(tensor.name), sentence));
  };
  if (tensor.dtype != dtype)
    wrong(fmt::format("must hold {}, not {}", dtype_name(dtype), dtype_name(tensor.dtype)));
  const void* data = view(tensor).data();
  if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0)
    wrong(fmt::format("must stand at a multiple of {} bytes to be viewed", alignment));
  return data;
}

}  // namespace shellgame
