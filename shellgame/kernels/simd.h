// Before Highway's headers in every kernel: targets whose vectors have no size at compile time are
// left out, since register tiles are arrays of vectors (ARM then uses NEON).
#pragma once

#ifdef SHELLGAME_FEW_TARGETS  // under sanitizers, to build in less time
#define HWY_DISABLED_TARGETS                                                                     \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | \
   HWY_AVX3_DL)
#else
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
