// NumPy's .npy files, C order and little-endian. Written as numpy.save writes them (version 1.0,
// the numbers at a multiple of 64 bytes); read in versions 1 to 3. The writer takes the numbers in
// pieces, so an array may be larger than memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/system/files.h"
#include "shellgame/tensors/dtype.h"
#include "shellgame/tensors/input_file.h"
#include "shellgame/tensors/shape.h"

namespace shellgame {

struct NpyHeader {
  Dtype dtype = Dtype::kF32;
  Shape shape;
  std::uint64_t data_begin = 0;  // where the numbers begin in the file
  std::uint64_t elements() const { return element_count(shape).value_or(0); }
};

// As numpy.save writes it. BF16 and 8-bit floats have no name in NumPy (UsageError).
std::string npy_header(Dtype dtype, std::span<const std::int64_t> shape);
// From the first bytes of a file (all of it, or kMaxNpyHeader at least); the numbers must fill the
// rest of its `file_size` bytes. Throws InputError.
NpyHeader parse_npy_header(std::string_view first, std::uint64_t file_size,
                           const std::string& file);
inline constexpr std::uint64_t kMaxNpyHeader = 65536 + 12;

// The header first, then the numbers in row-major order as they come; the file appears at commit(),
// which must come when all are there (UsageError).
class NpyWriter {
 public:
  NpyWriter(const std::string& path, Dtype dtype, Shape shape);
  // `count` numbers of type `from`; floating types are converted.
  void append(Dtype from, const void* data, std::size_t count);
  template <class T>
  void append(std::span<const T> values) {
    append(*kDtypeOf<T>, values.data(), values.size());
  }
  void commit();

 private:
  Dtype dtype_;
  Shape shape_;
  std::uint64_t missing_;  // elements
  OutputFile file_;
  std::string piece_;
};

class NpyFile {
 public:
  explicit NpyFile(const std::string& path);
  Dtype dtype() const { return header_.dtype; }
  const Shape& shape() const { return header_.shape; }
  std::uint64_t elements() const { return header_.elements(); }
  // Copies numbers [first, first + count), as they are in the file.
  void read(std::uint64_t first, std::size_t count, void* out) const;
  std::vector<float> floats() const;  // all, converted

 private:
  InputFile file_;
  NpyHeader header_;
};

}  // namespace shellgame
