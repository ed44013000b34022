// Before Highway's headers in every kernel: targets whose vectors have no size at compile time are
// left out, since register tiles are arrays of vectors (ARM then uses NEON).
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
