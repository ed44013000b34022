#include "shellgame/system/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

std::int64_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  return file >> number ? number : 0;  // "max" is no number
}

// What `ulimit -v` leaves; 0 where nobody set it.
std::int64_t address_space_left() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
  const std::int64_t used = number_in("/proc/self/statm") * ::sysconf(_SC_PAGESIZE);
  const auto most = static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, INT64_MAX));
  return std::max<std::int64_t>(1, most - used);
}

}  // namespace

std::int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  std::int64_t kibibytes = 0, available = 0;
  while (file >> key >> kibibytes) {
    std::getline(file, unit);
    if (key == "MemAvailable:") available = kibibytes * 1024;
  }
  // A container may have less than its machine.
  const std::int64_t most = number_in("/sys/fs/cgroup/memory.max"),
                     used = number_in("/sys/fs/cgroup/memory.current");
  if (most > 0) available = std::min(available, std::max<std::int64_t>(1, most - used));
  if (const std::int64_t space = address_space_left(); space > 0)
    available = std::min(available, space);
  return available;
}

std::string memory_words(double bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = bytes / 1024;
  std::size_t unit = 0;
  while (value >= 10'000 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.0f} {}", value, kUnits[unit]);
}

void require_memory(std::uint64_t bytes, const std::string& what) {
  const std::int64_t left = available_memory();
  if (left == 0 || std::cmp_less_equal(bytes, left)) return;
  fail("{} must fit in memory: about {} needed, {} available", what,
       memory_words(static_cast<double>(bytes)), memory_words(static_cast<double>(left)));
}

}  // namespace shellgame
