#include "shellgame/kernels/targets.h"

#include "shellgame/kernels/simd.h"  // before Highway

#include <fmt/ranges.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <cstdlib>

#include "shellgame/system/error.h"

namespace shellgame {

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  hwy::SetSupportedTargetsForTest(0);
  const std::int64_t possible = hwy::SupportedTargets() & HWY_TARGETS;
  // Highway gives better targets lower bits.
  for (std::int64_t bit = 1; bit > 0 && bit <= possible; bit <<= 1) {
    if (possible & bit) names.push_back(hwy::TargetName(bit));
  }
  return names;
}

void use_simd_target(const std::string& name) {
  hwy::SetSupportedTargetsForTest(0);
  const std::int64_t possible = hwy::SupportedTargets() & HWY_TARGETS;
  for (std::int64_t bit = 1; bit > 0 && bit <= possible; bit <<= 1) {
    if ((possible & bit) == 0 || name != hwy::TargetName(bit)) continue;
    hwy::SetSupportedTargetsForTest(bit);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    return;
  }
  wrong_use("SHELLGAME_SIMD must be one of {}, not '{}'", fmt::join(simd_targets(), ", "), name);
}

void use_best_simd_target() {
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

void use_simd_target_of_environment() {
  if (const char* name = std::getenv("SHELLGAME_SIMD")) use_simd_target(name);
}

}  // namespace shellgame
