#include "shellgame/system/replace_directory.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

namespace fs = std::filesystem;

// To the disk, so that a rename never uncovers what a power failure has taken.
void sync_path(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

std::vector<fs::path> entries_of(const fs::path& directory) {
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(directory)) entries.push_back(entry.path());
  return entries;
}

// A folder for the new files, which nobody else knows; gone when it goes out of scope.
class Beside {
 public:
  explicit Beside(const fs::path& directory) {
    const std::string name = fmt::format("{}.{}.partial", directory.string(), ::getpid());
    std::error_code error;
    fs::remove_all(name, error);
    fs::create_directories(name, error);
    path_ = name;
    if (!error || !fs::is_directory(directory)) {
      if (error) throw fs::filesystem_error("", error);
      return;
    }
    // The directory may be ours where the one around it is not.
    path_ = directory / fmt::format(".{}.partial", ::getpid());
    fs::remove_all(path_);
    fs::create_directory(path_);
  }
  ~Beside() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Files of others stand in both directories for a moment: a link costs no space.
void keep_others(const fs::path& from, const fs::path& to, const DirectoryFiles& files) {
  for (const fs::path& entry : entries_of(from)) {
    const fs::path name = entry.filename();
    if (files.replaces(name.string()) || fs::exists(fs::symlink_status(to / name)) || entry == to)
      continue;
    if (fs::is_symlink(fs::symlink_status(entry))) {
      fs::copy_symlink(entry, to / name);
    } else {
      fs::copy(entry, to / name,
               fs::copy_options::recursive | fs::copy_options::create_hard_links |
                   fs::copy_options::copy_symlinks);
    }
  }
}

bool exchanged(const fs::path& directory, const fs::path& beside, const DirectoryFiles& files) {
  if (beside.parent_path() == directory) return false;
  try {
    keep_others(directory, beside, files);
    fs::permissions(beside, fs::status(directory).permissions());
  } catch (const fs::filesystem_error&) {  // what cannot be linked must stay where it is
    return false;
  }
  return ::renameat2(AT_FDCWD, beside.c_str(), AT_FDCWD, directory.c_str(), RENAME_EXCHANGE) == 0;
}

void move_one_by_one(const fs::path& directory, const fs::path& beside,
                     const std::vector<fs::path>& written, const DirectoryFiles& files) {
  for (const fs::path& file : written)
    fs::rename(beside / file.filename(), directory / file.filename());
  for (const fs::path& old : entries_of(directory)) {
    const bool is_new = std::ranges::any_of(
        written, [&](const fs::path& file) { return file.filename() == old.filename(); });
    if (!is_new && files.replaces(old.filename().string())) fs::remove_all(old);
  }
}

}  // namespace

void replace_directory(const std::string& directory, const DirectoryFiles& files) {
  try {
    if (fs::exists(directory) && !fs::is_directory(directory))
      fail("'{}' must be a directory", directory);
    // A link stays a link, and "." has a name.
    fs::path path = fs::weakly_canonical(directory);
    if (!path.has_filename()) path = path.parent_path();  // "a/"
    const Beside beside(path);
    files.write(beside.path().string());
    const std::vector<fs::path> written = entries_of(beside.path());
    for (const fs::path& file : written) sync_path(file);
    sync_path(beside.path());
    if (!fs::exists(path)) {
      fs::rename(beside.path(), path);
    } else if (!exchanged(path, beside.path(), files)) {
      move_one_by_one(path, beside.path(), written, files);
    }
    sync_path(path.parent_path());
  } catch (const fs::filesystem_error& error) {
    fail("the directory '{}' cannot be written: {}", directory, error.code().message());
  }
}

}  // namespace shellgame
