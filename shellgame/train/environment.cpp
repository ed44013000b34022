#include "shellgame/train/environment.h"

#include <sys/utsname.h>
#include <torch/version.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "shellgame/kernels/targets.h"
#include "shellgame/system/threads.h"
#include "shellgame/tasks/task.h"

namespace shellgame {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "";
}

}  // namespace

nlohmann::ordered_json environment_record() {
  utsname system{};
  uname(&system);
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return {{"started", text},
          {"shellgame", SHELLGAME_VERSION},
          {"generator", kGeneratorVersion},
          {"libtorch", TORCH_VERSION},
          {"compiler", __VERSION__},
          {"processor", processor_name()},
          {"cores", std::thread::hardware_concurrency()},
          {"threads", thread_count()},
          {"simd", simd_targets().front()},
          {"system", std::string(system.sysname) + " " + system.release + " " + system.machine}};
}

}  // namespace shellgame
