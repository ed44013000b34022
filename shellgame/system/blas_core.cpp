#include "shellgame/system/blas_core.h"

#include <cstdlib>
#include <string>

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

}  // namespace shellgame
