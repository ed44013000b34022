// oneDNN reads its variables at its first product; this program, which links LibTorch as others
// would, must have set them by then. It is started again for that, with a processor's tiles
// pretended.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "shellgame/ops/engine.h"
#include "shellgame/system/onednn_isa.h"

namespace shellgame {
namespace {

// What a fresh process prints, with this environment.
std::string of_a_fresh_process(const std::string& environment) {
  const std::string command =
      "env -u DNNL_MAX_CPU_ISA -u ONEDNN_MAX_CPU_ISA -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX " +
      environment + " /proc/" + std::to_string(getpid()) +
      "/exe --gtest_also_run_disabled_tests "
      "--gtest_filter=OnednnStart.DISABLED_Says 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer;
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), got);
  ::pclose(pipe);
  return text;
}

void* dnnl_function(const char* name) {
  for (const char* library : {"libdnnl.so.2", "libdnnl.so.3", "libtorch_cpu.so"}) {
    void* const handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    if (void* const function = dlsym(handle, name)) return function;
  }
  return nullptr;
}

// Only for the processes that the test below starts.
TEST(OnednnStart, DISABLED_Says) {
  EXPECT_EQ(engine(), Engine::kKernels);  // links the library
  const char* told = std::getenv("DNNL_MAX_CPU_ISA");
  std::printf("told: %s.\n", told == nullptr ? "nothing" : told);
  // oneDNN takes another bound only while it has not used the present one.
  constexpr int kSse41 = 1;
  void* const set = dnnl_function("dnnl_set_max_cpu_isa");
  if (set == nullptr) {
    std::printf("hidden.\n");
    return;
  }
  if (std::getenv("SHELLGAME_ASK_ONLY") == nullptr) {
    const int status = reinterpret_cast<int (*)(int)>(set)(kSse41);
    std::printf("not read: %s.\n", status == 0 ? "yes" : "no");
  }
  std::printf("uses: %s.\n", onednn_isa_in_use().c_str());
}

TEST(OnednnStart, IsToldBeforeItLooks) {
  using testing::HasSubstr;
  const std::string pretended = of_a_fresh_process("SHELLGAME_PRETEND_TILES=1");
  EXPECT_THAT(pretended, HasSubstr("told: AVX512_CORE_BF16."));
  EXPECT_THAT(of_a_fresh_process("SHELLGAME_PRETEND_TILES=0"), HasSubstr("told: nothing."));
  EXPECT_THAT(of_a_fresh_process("SHELLGAME_PRETEND_TILES=1 DNNL_MAX_CPU_ISA=AVX2"),
              HasSubstr("told: AVX2."));
  if (pretended.find("hidden.") != std::string::npos)
    GTEST_SKIP() << "this LibTorch does not show its oneDNN";
  EXPECT_THAT(pretended, HasSubstr("not read: yes."));
  EXPECT_THAT(pretended, HasSubstr("uses: SSE41."));
  EXPECT_THAT(of_a_fresh_process("SHELLGAME_ASK_ONLY=1 DNNL_MAX_CPU_ISA=SSE41"),
              HasSubstr("uses: SSE41."));
}

}  // namespace
}  // namespace shellgame
