#include "shellgame/ops/timing.h"

namespace shellgame {
namespace {

bool on = false;
std::map<std::string, double> seconds;

}  // namespace

PartTimer::PartTimer(const char* name) : name_(on ? name : nullptr) {
  if (name_ != nullptr) start_ = std::chrono::steady_clock::now();
}

PartTimer::~PartTimer() {
  if (name_ == nullptr) return;
  seconds[name_] +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void start_part_timing() {
  seconds.clear();
  on = true;
}

std::map<std::string, double> stop_part_timing() {
  on = false;
  return seconds;
}

}  // namespace shellgame
