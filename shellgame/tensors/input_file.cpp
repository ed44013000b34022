#include "shellgame/tensors/input_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "shellgame/text/error.h"

namespace shellgame {

InputFile::InputFile(const std::string& path) : path_(path) {
  // O_NONBLOCK: opening a pipe that nobody writes to would wait for ever.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail("cannot read '{}': {}", path, std::strerror(errno));
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    fail("cannot read '{}': it must be a regular file", path);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
  ::close(descriptor_);
}

void InputFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const std::size_t part = std::min<std::size_t>(out.size(), std::size_t{1} << 30);
    const ssize_t got = ::pread(descriptor_, out.data(), part, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read '{}': {}", path_, std::strerror(errno));
    if (got == 0) {
      throw InputError(path_, fmt::format("the file must hold {} bytes, as it did when it was "
                                          "opened, but it ends at byte {}",
                                          size_, offset));
    }
    offset += static_cast<std::uint64_t>(got);
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

std::span<const std::byte> InputFile::map() const {
  if (size_ == 0) return {};
  std::call_once(mapped_, [this] {
    void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
    if (address == MAP_FAILED) fail("cannot map '{}': {}", path_, std::strerror(errno));
    data_ = static_cast<const std::byte*>(address);
  });
  return {data_, size_};
}

}  // namespace shellgame
