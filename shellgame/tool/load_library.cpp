#include "shellgame/tool/load_library.h"

#include <dlfcn.h>

#include <filesystem>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

std::string library_path(const std::string& library, const std::string& hint) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path folder = program.parent_path();
  for (const fs::path& path : {folder / library, folder / "../lib/shellgame" / library}) {
    if (fs::exists(path, error)) return path.string();
  }
  fail("'{}' must be beside the tool, in {}: {}", library, folder.string(), hint);
}

}  // namespace

void* load_library(const std::string& library, const std::string& entry, const std::string& hint) {
  const std::string path = library_path(library, hint);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) fail("the library '{}' cannot be loaded: {}", library, dlerror());
  void* found = dlsym(handle, entry.c_str());
  if (found == nullptr) fail("{} must be of this version: {}", path, dlerror());
  return found;
}

}  // namespace shellgame
