#include "shellgame/models/load_plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "shellgame/models/plugin_tag.h"
#include "shellgame/system/files.h"
#include "shellgame/text/error.h"

namespace shellgame {

std::string plugin_tag(const std::string& file) {
  const std::string bytes = read_file(file);
  // Not one literal: this library must not look like a plug-in itself.
  const std::string mark = std::string("shellgame ") + "plug-in: ";
  if (!bytes.starts_with("\x7f"
                         "ELF"))
    return "";
  const std::size_t found = bytes.find(mark);
  if (found == std::string::npos) return "";
  constexpr std::size_t kLongestTag = 400;
  const std::string_view rest = std::string_view(bytes).substr(found + mark.size(), kLongestTag);
  return std::string(rest.substr(0, rest.find('\0')));
}

std::string own_plugin_tag() { return kPluginInterface; }

void load_plugin(const std::string& file) {
  static std::vector<std::string> loaded;
  const std::string path = std::filesystem::weakly_canonical(file).string();
  if (std::ranges::find(loaded, path) != loaded.end()) return;
  const std::string tag = plugin_tag(file);
  if (tag.empty())
    wrong_use(
        "--plugin must be a shared library that was made with SHELLGAME_PLUGIN (docs/plugins.md), "
        "and '{}' is none",
        file);
  // Without Torch's headers a plug-in names no LibTorch, and needs none.
  if (tag != kPluginInterface && tag != kPluginInterfaceWithoutTorch)
    wrong_use("the plug-in '{}' must be built for '{}', and was built for '{}'", file,
              kPluginInterface, tag);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) fail("the plug-in '{}' cannot be loaded: {}", file, dlerror());
  void* entry = dlsym(handle, "shellgame_plugin_register");
  if (entry == nullptr)
    wrong_use("the plug-in '{}' must have the function shellgame_plugin_register: {}", file,
              dlerror());
  reinterpret_cast<void (*)()>(entry)();
  loaded.push_back(path);
}

void load_plugins(const std::vector<std::string>& files) {
  for (const std::string& file : files) load_plugin(file);
}

}  // namespace shellgame
