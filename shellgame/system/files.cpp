#include "shellgame/system/files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "shellgame/system/interrupts.h"
#include "shellgame/system/messages.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

std::string reason() { return std::strerror(errno); }

// Temporary names that an interrupt has to remove: fixed storage, because a signal handler may not
// allocate.
struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<bool> live{false};
  std::array<char, 4096> name{};
};
std::array<Slot, 16> slots;

int remember(const std::string& name) {
  if (name.size() >= slots[0].name.size()) return -1;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].taken.exchange(true)) continue;
    std::memcpy(slots[i].name.data(), name.c_str(), name.size() + 1);
    slots[i].live = true;
    return static_cast<int>(i);
  }
  return -1;
}

void forget(int slot) {
  if (slot < 0) return;
  slots[static_cast<std::size_t>(slot)].live = false;
  slots[static_cast<std::size_t>(slot)].taken = false;
}

void on_interrupt(int signal) {
  for (Slot& slot : slots) {
    if (slot.live) ::unlink(slot.name.data());
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

OutputFile::OutputFile(const std::string& name) : path_(name) {
  if (name == "-") {
    file_ = stdout;
    return;
  }
  // A link stays a link: what it points to is written.
  std::error_code ignored;
  if (std::filesystem::is_symlink(name, ignored))
    path_ = std::filesystem::weakly_canonical(name, ignored).string();
  const std::string& path = path_;
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    if (S_ISDIR(status.st_mode)) fail("cannot write '{}': it is a directory", path);
    file_ = std::fopen(path.c_str(), "wb");  // a device or a pipe: nothing to rename
    if (file_ == nullptr) fail("cannot write '{}': {}", path, reason());
    return;
  }
  static std::atomic<unsigned> serial{0};  // two files on one path must not share a temporary name
  temporary_ = fmt::format("{}.tmp-{}-{}", path, ::getpid(), serial++);
  file_ = std::fopen(temporary_.c_str(), "wb");
  if (file_ == nullptr) fail("cannot write '{}': {}", path, reason());
  slot_ = remember(temporary_);
}

OutputFile::~OutputFile() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  forget(slot_);
}

void OutputFile::write(std::string_view bytes) {
  if (bytes.empty()) return;  // it may be a view of nothing, which fwrite does not take
  size_ += bytes.size();
  if (file_ == stdout) return print_data(bytes);
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
    fail("cannot write '{}': {}", path_, reason());
  }
}

void OutputFile::commit() {
  if (file_ == stdout) return flush_output();
  if (std::fflush(file_) != 0) fail("cannot write '{}': {}", path_, reason());
  std::FILE* file = file_;
  file_ = nullptr;
  if (std::fclose(file) != 0) fail("cannot write '{}': {}", path_, reason());
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    fail("cannot rename '{}' to '{}': {}", temporary_, path_, reason());
  }
  temporary_.clear();
}

void write_file(const std::string& path, std::string_view content) {
  OutputFile file(path);
  file.write(content);
  file.commit();
}

void write_record(const std::string& path, std::string_view content) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    fail("cannot write '{}': it must be a regular file", path);
  write_file(path, content);
}

void remove_temporary_files_on_interrupt() { handle_interrupts(on_interrupt); }

MappedFile::MappedFile(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail("cannot read '{}': {}", path, reason());
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    fail("cannot map '{}': it must be a regular file", path);
  }
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ > 0) {
    void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED) {
      ::close(descriptor);
      fail("cannot map '{}': {}", path, reason());
    }
    data_ = static_cast<const char*>(address);
  }
  ::close(descriptor);
}

MappedFile::MappedFile(MappedFile&& other) noexcept : data_(other.data_), size_(other.size_) {
  other.data_ = nullptr;
  other.size_ = 0;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace shellgame
