// A directory of its own for a test, removed at the end; and the sentence of an expected error.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "shellgame/system/error.h"

namespace shellgame {

class ScratchDirectory {
 public:
  ScratchDirectory() {
    path_ = (std::filesystem::temp_directory_path() / "shellgame_XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// What `work` throws, without the directory's name, or "no error".
template <class Work>
std::string sentence_of(const std::string& directory, Work work) {
  try {
    work();
  } catch (const Error& error) {
    std::string text = error.what();
    for (std::size_t at;
         !directory.empty() && (at = text.find(directory + "/")) != std::string::npos;)
      text.erase(at, directory.size() + 1);
    return text;
  }
  return "no error";
}

}  // namespace shellgame
