// What tests of files and processes need: a folder of their own, and a forked child to be killed
// in.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace shellgame {

// A fresh folder, removed with all that is in it.
class ScratchFolder {
 public:
  ScratchFolder() : path_(testing::TempDir() + "shellgame-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no scratch folder");
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      found.push_back(entry.path().filename());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  std::string path_;
};

// Forks; the child runs `work` and leaves with its result, or with 99 if it throws.
inline pid_t fork_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no fork");  // nobody may signal process -1
  if (child != 0) return child;
  int code = 99;
  try {
    code = work();
  } catch (...) {
  }
  ::_exit(code);
}

// The status of waitpid().
inline int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace shellgame
