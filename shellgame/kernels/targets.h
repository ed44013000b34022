// The instruction sets that kernels are built for. Highway chooses the best one at run time;
// SHELLGAME_SIMD=NAME (or use_simd_target) takes another one that the machine has.
#pragma once

#include <string>
#include <vector>

namespace shellgame {

// Those that this build has and this machine can run, best first, e.g. {"AVX2", "SSE4", ...}.
std::vector<std::string> simd_targets();

// The one that kernels use.
std::string simd_target_in_use();

// All kernels use this one from now on. Throws UsageError, naming the possible ones.
void use_simd_target(const std::string& name);
// The best one again.
void use_best_simd_target();

// Follows the environment variable SHELLGAME_SIMD, if it is set.
void use_simd_target_of_environment();

}  // namespace shellgame
