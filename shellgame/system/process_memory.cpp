#include "shellgame/system/process_memory.h"

#include <malloc.h>

#include <fstream>
#include <string>

namespace shellgame {

void keep_freed_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);  // never: the largest int is only 2 GiB
  mallopt(M_TOP_PAD, 64 << 20);
}

std::int64_t memory_in_use() {
  const auto info = mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

std::int64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  }
  return 0;
}

void reset_peak_memory() {
  malloc_trim(0);  // what earlier work left behind
  std::ofstream refs("/proc/self/clear_refs");
  refs << "5";
}

}  // namespace shellgame
