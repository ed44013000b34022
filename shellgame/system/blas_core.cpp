#include "shellgame/system/blas_core.h"

#include <dlfcn.h>

#include <cstdlib>

namespace shellgame {

void choose_blas_core() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const std::string core(blas_core_for(__builtin_cpu_is("intel"), avx2, avx512));
  if (!core.empty()) setenv("OPENBLAS_CORETYPE", core.c_str(), /*overwrite=*/0);
#endif
}

void let_waiting_threads_sleep() {
  setenv("OPENBLAS_THREAD_TIMEOUT", "4", /*overwrite=*/0);  // 2^4 cycles, the least that it takes
  setenv("OMP_WAIT_POLICY", "passive", /*overwrite=*/0);
}

std::string blas_core_in_use() {
  void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return "";
  void* const name = dlsym(library, "openblas_get_corename");
  const std::string core = name == nullptr ? "" : reinterpret_cast<const char* (*)()>(name)();
  dlclose(library);
  return core;
}

}  // namespace shellgame
