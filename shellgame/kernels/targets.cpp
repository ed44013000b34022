#include "shellgame/kernels/targets.h"

#include <fmt/ranges.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <cstdint>
#include <cstdlib>

#include "shellgame/text/error.h"

namespace shellgame {

namespace {

std::int64_t chosen = 0;  // a target's bit; 0: the best one

// Highway forgets a choice when it is asked for all targets of the machine.
void apply_choice() {
  hwy::SetSupportedTargetsForTest(chosen);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

std::int64_t possible_targets() {
  hwy::SetSupportedTargetsForTest(0);
  const std::int64_t possible = hwy::SupportedTargets() & HWY_TARGETS;
  apply_choice();
  return possible;
}

}  // namespace

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  const std::int64_t possible = possible_targets();
  // Highway gives better targets lower bits.
  for (std::int64_t bit = 1; bit > 0 && bit <= possible; bit <<= 1) {
    if (possible & bit) names.push_back(hwy::TargetName(bit));
  }
  return names;
}

std::string simd_target_in_use() {
  return chosen == 0 ? simd_targets().front() : hwy::TargetName(chosen);
}

void use_simd_target(const std::string& name) {
  const std::int64_t possible = possible_targets();
  for (std::int64_t bit = 1; bit > 0 && bit <= possible; bit <<= 1) {
    if ((possible & bit) == 0 || name != hwy::TargetName(bit)) continue;
    chosen = bit;
    apply_choice();
    return;
  }
  wrong_use("SHELLGAME_SIMD must be one of {}, not '{}'", fmt::join(simd_targets(), ", "), name);
}

void use_best_simd_target() {
  chosen = 0;
  apply_choice();
}

void use_simd_target_of_environment() {
  if (const char* name = std::getenv("SHELLGAME_SIMD")) use_simd_target(name);
}

}  // namespace shellgame
