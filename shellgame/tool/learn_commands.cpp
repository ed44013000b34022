#include "shellgame/tool/learn_commands.h"

#include <dlfcn.h>

#include <filesystem>

#include "shellgame/system/error.h"
#include "shellgame/system/threads.h"

namespace shellgame {
namespace {

constexpr char kLibrary[] = "libshellgame_models.so";

// Beside the tool, or where an installation puts it.
std::string library_path() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path folder = program.parent_path();
  for (const fs::path& path : {folder / kLibrary, folder / "../lib/shellgame" / kLibrary}) {
    if (fs::exists(path, error)) return path.string();
  }
  fail("'{}' must be beside the tool, in {}: build it with -DSHELLGAME_LEARN=ON (needs LibTorch)",
       kLibrary, folder.string());
}

}  // namespace

const LearnCommands& learn_commands() {
  static const LearnCommands* commands = [] {
    const std::string path = library_path();
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) fail("the library of models cannot be loaded: {}", dlerror());
    void* entry = dlsym(library, "shellgame_learn_commands");
    if (entry == nullptr) fail("{} must be of this version: {}", path, dlerror());
    return reinterpret_cast<const LearnCommands* (*)(int)>(entry)(thread_count());
  }();
  return *commands;
}

}  // namespace shellgame
