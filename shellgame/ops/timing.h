// Where the time of a step goes: the seconds spent in each named part while timing is on. Off, a
// timer costs one comparison.
#pragma once

#include <chrono>
#include <map>
#include <string>

namespace shellgame {

class PartTimer {
 public:
  // `name` must outlive the timer.
  explicit PartTimer(const char* name);
  ~PartTimer();
  PartTimer(const PartTimer&) = delete;
  PartTimer& operator=(const PartTimer&) = delete;

 private:
  const char* name_;  // null: timing is off
  std::chrono::steady_clock::time_point start_;
};

// Begins with nothing counted; not for several threads at once.
void start_part_timing();
// The seconds of each part since then; timing is off afterwards.
std::map<std::string, double> stop_part_timing();

}  // namespace shellgame
