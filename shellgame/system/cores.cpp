#include "shellgame/system/cores.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace shellgame {
namespace {

int cores_of_affinity() {
  // The system refuses a set that is smaller than its own.
  for (std::size_t cores = 1024; cores <= std::size_t{1} << 20; cores *= 4) {
    cpu_set_t* const set = CPU_ALLOC(cores);
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(cores);
    const int count = ::sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
  return static_cast<int>(std::thread::hardware_concurrency());
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The smallest grant among the process's control group and those above it; 0 for no limit.
int cores_of_control_group() {
  const std::string line = first_line("/proc/self/cgroup");  // "0::/user.slice/..."
  std::string group = line.starts_with("0::/") ? line.substr(3) : "/";
  int least = 0;
  for (;;) {
    const int granted = cores_of_quota(first_line("/sys/fs/cgroup" + group + "/cpu.max"));
    if (granted > 0 && (least == 0 || granted < least)) least = granted;
    if (group.size() <= 1) return least;
    group.erase(std::max<std::size_t>(group.rfind('/'), 1));
  }
}

}  // namespace

int cores_of_quota(std::string_view cpu_max) {
  const char* const end = cpu_max.data() + cpu_max.size();
  std::int64_t quota = 0, period = 0;
  const auto [space, wrong] = std::from_chars(cpu_max.data(), end, quota);  // "max" is no number
  if (wrong != std::errc() || space == end || *space != ' ') return 0;
  if (std::from_chars(space + 1, end, period).ec != std::errc()) return 0;
  if (quota <= 0 || period <= 0) return 0;
  const std::int64_t cores = quota / period + (quota % period == 0 ? 0 : 1);
  return static_cast<int>(std::min<std::int64_t>(cores, 1 << 20));
}

int count_cores() {
  const int granted = cores_of_control_group(), there = std::max(1, cores_of_affinity());
  return granted > 0 ? std::min(granted, there) : there;
}

int usable_cores() {
  static const int cores = count_cores();
  return cores;
}

void bound_thread_variables() {
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS",
                           "MKL_NUM_THREADS", "BLIS_NUM_THREADS"}) {
    const char* const text = std::getenv(name);
    if (text == nullptr || std::strtol(text, nullptr, 10) <= usable_cores()) continue;
    ::setenv(name, std::to_string(usable_cores()).c_str(), /*overwrite=*/1);
  }
}

}  // namespace shellgame
