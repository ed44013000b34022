// A file that is read in pieces. read() copies with pread, so that a file which another program
// cuts short gives an error; map() hands out the file's own pages, where the same would end the
// program (SIGBUS). So weights are loaded through read(), and map() is for those who know that the
// file stays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>

namespace shellgame {

class InputFile {
 public:
  explicit InputFile(const std::string& path);  // must be a regular file, or a link to one
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }  // when it was opened
  // Fills `out` from byte `offset` on; any number of threads. Throws InputError if the file ends.
  void read(std::uint64_t offset, std::span<std::byte> out) const;
  // All of it, mapped at the first call.
  std::span<const std::byte> map() const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  mutable std::once_flag mapped_;
  mutable const std::byte* data_ = nullptr;
};

}  // namespace shellgame
