#include "shellgame/system/onednn_isa.h"

#include <dlfcn.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

namespace shellgame {

bool processor_has_tiles() {
  if (const char* pretended = std::getenv("SHELLGAME_PRETEND_TILES"))
    return std::strcmp(pretended, "1") == 0;
#if defined(__x86_64__)
  constexpr unsigned kTiles = 1U << 24;  // AMX-TILE
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kTiles) != 0;
#else
  return false;
#endif
}

void choose_onednn_isa(bool tiles) {
  const std::string isa(onednn_isa_for(tiles));
  if (isa.empty() || std::getenv("ONEDNN_MAX_CPU_ISA") != nullptr) return;
  setenv("DNNL_MAX_CPU_ISA", isa.c_str(), /*overwrite=*/0);
}

std::string onednn_isa_in_use() {
  // A library of its own in Debian, a part of LibTorch elsewhere.
  for (const char* name : {"libdnnl.so.2", "libdnnl.so.3", "libtorch_cpu.so"}) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) continue;
    void* const number = dlsym(library, "dnnl_get_effective_cpu_isa");
    void* const word = dlsym(library, "dnnl_cpu_isa2str");
    std::string isa;
    if (number != nullptr && word != nullptr)
      isa = reinterpret_cast<const char* (*)(int)>(word)(reinterpret_cast<int (*)()>(number)());
    dlclose(library);
    if (isa.empty()) continue;
    if (isa.starts_with("cpu_isa_")) isa = isa.substr(std::strlen("cpu_isa_"));
    std::ranges::transform(isa, isa.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return isa;
  }
  return "";
}

}  // namespace shellgame
