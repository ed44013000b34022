// Whole files in: read_file and read_input of files.h.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// A file that is read whole, closed at the end; "-" is standard input.
struct OpenInput {
  OpenInput(const std::string& name, int flags) : path(name) {
    descriptor = name == "-" ? STDIN_FILENO : ::open(name.c_str(), O_RDONLY | O_CLOEXEC | flags);
    if (descriptor < 0 || ::fstat(descriptor, &status) != 0) refuse(errno);
    if (S_ISDIR(status.st_mode)) refuse(EISDIR);
  }
  ~OpenInput() { close(); }
  OpenInput(const OpenInput&) = delete;
  OpenInput& operator=(const OpenInput&) = delete;

  // At most `most` bytes, and no more than half of the machine's memory; no memory is asked for
  // before the size is known to be within. Pipes, and files that grow, are stopped there.
  std::string whole(std::uint64_t most) const {
    const auto pages = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
    const auto page = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PAGESIZE)));
    if (pages > 0 && page > 0) most = std::min(most, pages * page / 2);
    const bool known = S_ISREG(status.st_mode);
    if (known && static_cast<std::uint64_t>(status.st_size) > most) too_large(most);
    std::string content;
    if (known) content.reserve(static_cast<std::size_t>(status.st_size));
    std::array<char, 1 << 16> buffer;
    for (;;) {
      const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("cannot read '{}': {}", path, std::strerror(errno));
      if (got == 0) return content;
      if (content.size() + static_cast<std::size_t>(got) > most) too_large(most);
      content.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }

  const std::string& path;
  int descriptor = -1;
  struct stat status {};

 private:
  void close() const {
    if (descriptor > STDIN_FILENO) ::close(descriptor);
  }
  [[noreturn]] void refuse(int code) const {
    close();
    fail("cannot read '{}': {}", path, std::strerror(code));
  }
  [[noreturn]] void too_large(std::uint64_t most) const {
    throw InputError(path, fmt::format("what is read at once must have at most {} bytes, and this "
                                       "has more",
                                       most));
  }
};

// A terminal or /dev/null: devices such as /dev/zero have no end.
bool is_calm_device(const OpenInput& file) {
  return S_ISCHR(file.status.st_mode) &&
         (::isatty(file.descriptor) != 0 || file.status.st_rdev == makedev(1, 3));
}

}  // namespace

std::string read_file(const std::string& path) {
  // O_NONBLOCK: opening a pipe that nobody writes to would wait for ever.
  const OpenInput file(path, O_NONBLOCK);
  if (!S_ISREG(file.status.st_mode)) fail("cannot read '{}': it must be a regular file", path);
  return file.whole(kMostFileBytes);
}

std::string read_input(const std::string& path) {
  const OpenInput file(path, 0);
  const mode_t kind = file.status.st_mode;
  const bool stream = S_ISFIFO(kind) || S_ISSOCK(kind) || is_calm_device(file);
  if (!S_ISREG(kind) && !stream)
    fail("cannot read '{}': it must be a file, a pipe or a terminal", path);
  return file.whole(kMostInputBytes);
}

}  // namespace shellgame
