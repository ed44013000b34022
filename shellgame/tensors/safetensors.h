// safetensors files: 8 bytes of header length, a JSON header, then the numbers of all tensors
// without gaps. What is written here is byte for byte what the safetensors package writes (metadata
// of several keys apart, which it leaves in random order). Wrong files are refused with a sentence
// that names the file and the tensor. docs/formats.md has the rules.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "shellgame/tensors/dtype.h"
#include "shellgame/tensors/input_file.h"
#include "shellgame/tensors/shape.h"

namespace shellgame {

// A tensor of a file: its numbers are the bytes [begin, end) of the data, in row-major order.
struct StoredTensor {
  std::string name;
  Dtype dtype = Dtype::kF32;
  Shape shape;
  std::uint64_t begin = 0, end = 0;
  std::uint64_t bytes() const { return end - begin; }
  std::uint64_t elements() const { return bytes() / dtype_size(dtype); }
  bool operator==(const StoredTensor&) const = default;
};

using Metadata = std::map<std::string, std::string>;

struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;  // in the order of their numbers
  Metadata metadata;                  // "__metadata__"
  std::uint64_t data_begin = 0;       // where the data begin in the file
};

// The package's own limit.
inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;

// The header's length from the first 8 bytes of a file of `file_size` bytes; throws InputError.
std::uint64_t safetensors_header_length(std::string_view first, std::uint64_t file_size,
                                        const std::string& file);
// Checks everything but the numbers: that names, types, shapes and places fit each other and fill
// `data_bytes` exactly. Throws InputError.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                           const std::string& file);

// An open file: the header was read and checked, numbers are read when asked for. Reading works
// from several threads at once.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);

  const std::string& path() const { return file_->path(); }
  const std::vector<StoredTensor>& tensors() const { return header_.tensors; }
  const Metadata& metadata() const { return header_.metadata; }
  const StoredTensor* find(std::string_view name) const;  // nullptr if it is not there
  const StoredTensor& at(std::string_view name) const;    // throws InputError

  // Copies the numbers, as `dtype`, to `out`, which must have room for tensor.elements() of them.
  // A file that was cut meanwhile gives InputError.
  void read(const StoredTensor& tensor, Dtype dtype, void* out) const;
  std::vector<float> floats(std::string_view name) const;

  // The numbers in the file's own pages, without a copy. For files that nobody cuts while they are
  // open: a page that is gone ends the program. Replacing a file by renaming (as shellgame does) is
  // safe, writing into it is not.
  std::span<const std::byte> view(const StoredTensor& tensor) const;
  // The same as numbers; the type must be the tensor's, and the place aligned, which it is in
  // files that shellgame or a recent package wrote. Throws InputError.
  template <class T>
  std::span<const T> view_as(const StoredTensor& tensor) const {
    static_assert(kDtypeOf<T>.has_value());
    return {static_cast<const T*>(checked_view(tensor, *kDtypeOf<T>, alignof(T))),
            static_cast<std::size_t>(tensor.elements())};
  }

 private:
  const void* checked_view(const StoredTensor& tensor, Dtype dtype, std::size_t alignment) const;

  std::unique_ptr<const InputFile> file_;
  SafetensorsHeader header_;
  std::unordered_map<std::string_view, std::size_t> places_;  // views of names in header_
};

// A tensor to be written: `data` holds its numbers as `dtype`, row-major, and the file gets them as
// `stored` (the same by default).
struct TensorSource {
  std::string name;
  Dtype dtype = Dtype::kF32;
  Shape shape;
  const void* data = nullptr;
  std::optional<Dtype> stored = std::nullopt;
  Dtype stored_dtype() const { return stored.value_or(dtype); }
};

inline const Metadata kPyTorchMetadata = {{"format", "pt"}};

// Writes under a temporary name, then renames. Tensors stand in the package's order: wider types
// first (dtype.h has the order), then by name. Wrong sources throw UsageError.
void write_safetensors(const std::string& path, std::span<const TensorSource> tensors,
                       const Metadata& metadata = kPyTorchMetadata);
// The same bytes, in order, to anything that takes bytes.
void write_safetensors(const std::function<void(std::string_view)>& write,
                       std::span<const TensorSource> tensors, const Metadata& metadata);

}  // namespace shellgame
