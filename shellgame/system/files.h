// Whole files in, files out. A file appears under its final name only when it is complete: it is
// written under a temporary name beside it, then renamed. "-" means standard input or standard
// output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace shellgame {

// The most that is read into memory at once: of a file that this program finds by itself, and of
// what a user names.
inline constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kMostInputBytes = std::uint64_t{4} << 30;

// The whole content of a regular file, or of a link to one; pipes and devices are refused without a
// wait. Throws Error with the system's reason.
std::string read_file(const std::string& path);

// The same for what a user names on the command line on purpose, which may also be a pipe
// (`<(...)`, /dev/stdin), a terminal, or "-" for standard input.
std::string read_input(const std::string& path);

class OutputFile {
 public:
  explicit OutputFile(const std::string& name);
  ~OutputFile();  // without commit(), the temporary file is removed and nothing else has changed
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // To a terminal, control characters are written out (text/printable.h).
  void write(std::string_view bytes);
  // Puts the complete file under its final name (flushes, for standard output).
  void commit();
  // Bytes written so far.
  std::size_t size() const { return size_; }

 private:
  std::string path_;
  std::string temporary_;  // empty for standard output
  std::FILE* file_ = nullptr;
  std::size_t size_ = 0;
  int slot_ = -1;  // where an interrupt finds the temporary name
};

// Writes `content` to `path` in one go, with the same promise.
void write_file(const std::string& path, std::string_view content);
// The same for a file that nobody named: what stands there already must be a regular file (or a
// link to one), since a pipe would be waited for and a device would swallow the record.
void write_record(const std::string& path, std::string_view content);

// Removes temporary files when the program is interrupted (SIGINT, SIGTERM, SIGHUP, unless they are
// ignored), then dies of the signal.
void remove_temporary_files_on_interrupt();

// A file mapped into memory for reading; an empty file gives an empty view.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  std::string_view bytes() const { return {data_, size_}; }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace shellgame
