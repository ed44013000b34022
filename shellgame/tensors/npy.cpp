#include "shellgame/tensors/npy.h"

#include <algorithm>
#include <utility>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

std::string read_beginning(const InputFile& file) {
  std::string bytes(std::min(file.size(), kMaxNpyHeader), '\0');
  file.read(0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

}  // namespace

NpyWriter::NpyWriter(const std::string& path, Dtype dtype, Shape shape)
    : dtype_(dtype),
      shape_(std::move(shape)),
      missing_(element_count(shape_).value_or(0)),
      file_(path) {
  file_.write(npy_header(dtype_, shape_));
}

void NpyWriter::append(Dtype from, const void* data, std::size_t count) {
  if (count > missing_) {
    wrong_use("an array of the shape {} has room for {} numbers more, not for {}",
              shape_text(shape_), missing_, count);
  }
  missing_ -= count;
  const auto* bytes = static_cast<const char*>(data);
  if (from == dtype_) {
    file_.write({bytes, count * dtype_size(dtype_)});
    return;
  }
  while (count > 0) {
    const std::size_t part = std::min(count, kConvertedAtOnce);
    piece_.resize(part * dtype_size(dtype_));
    convert(from, bytes, dtype_, piece_.data(), part);
    file_.write(piece_);
    bytes += part * dtype_size(from);
    count -= part;
  }
}

void NpyWriter::commit() {
  if (missing_ > 0) {
    wrong_use("an array of the shape {} must be complete, but {} numbers are missing",
              shape_text(shape_), missing_);
  }
  file_.commit();
}

NpyFile::NpyFile(const std::string& path)
    : file_(path), header_(parse_npy_header(read_beginning(file_), file_.size(), path)) {}

void NpyFile::read(std::uint64_t first, std::size_t count, void* out) const {
  if (first > elements() || count > elements() - first)
    wrong_use("numbers {} to {} must be among the array's {}", first, first + count, elements());
  const std::size_t width = dtype_size(dtype());
  file_.read(header_.data_begin + first * width, {static_cast<std::byte*>(out), count * width});
}

std::vector<float> NpyFile::floats() const {
  std::vector<float> values(elements());
  if (dtype() == Dtype::kF32) {
    read(0, values.size(), values.data());
  } else {
    std::vector<std::byte> bytes(elements() * dtype_size(dtype()));
    read(0, values.size(), bytes.data());
    convert(dtype(), bytes.data(), Dtype::kF32, values.data(), values.size());
  }
  return values;
}

}  // namespace shellgame
