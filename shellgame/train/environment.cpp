#include "shellgame/train/environment.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <torch/version.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "generated_commit.h"
#include "shellgame/kernels/targets.h"
#include "shellgame/system/blas_core.h"
#include "shellgame/system/onednn_isa.h"
#include "shellgame/system/threads.h"
#include "shellgame/tasks/task.h"

namespace shellgame {

using Json = nlohmann::ordered_json;

namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "";
}

// The command line of this process, as a shell would take it; "" where the system does not tell.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text;
  for (std::string word; std::getline(file, word, '\0');) {
    if (text.empty()) word = word.substr(word.rfind('/') + 1);  // the program's name
    const bool plain =
        !word.empty() && word.find_first_of(" \t\n\"'\\$`*?[]{}()<>|&;#~!") == std::string::npos;
    if (!plain) {
      for (std::size_t at = 0; (at = word.find('\'', at)) != std::string::npos; at += 4)
        word.replace(at, 1, "'\\''");
      word = "'" + word + "'";
    }
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

}  // namespace

Json environment_record() {
  utsname system{};
  uname(&system);
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return {{"started", text},
          {"command", command_line()},
          {"shellgame", SHELLGAME_VERSION},
          {"commit", SHELLGAME_COMMIT},
          {"generator", kGeneratorVersion},
          {"libtorch", TORCH_VERSION},
          {"compiler", __VERSION__},
          {"processor", processor_name()},
          {"cores", std::thread::hardware_concurrency()},
          {"threads", thread_count()},
          {"simd", simd_target_in_use()},
          {"blas", blas_core_in_use()},
          {"onednn", onednn_isa_in_use()},
          {"system", std::string(system.sysname) + " " + system.release + " " + system.machine}};
}

std::vector<std::string> environment_differences(const Json& before, const Json& now) {
  std::vector<std::string> differences;
  for (const char* key : {"simd", "generator", "shellgame", "commit", "libtorch"}) {
    const Json was = before.is_object() ? before.value(key, Json()) : Json(), is = now.at(key);
    if (was.is_null() || was == is) continue;
    differences.push_back(fmt::format("{} was {} and is {}", key, was.dump(), is.dump()));
  }
  return differences;
}

}  // namespace shellgame
