#include "shellgame/tool/run_learn.h"

#include <c10/util/Exception.h>

#include "shellgame/kernels/targets.h"
#include "shellgame/models/load_plugin.h"
#include "shellgame/ops/engine.h"
#include "shellgame/system/files.h"
#include "shellgame/system/process_memory.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// Torch's own errors carry a page of addresses; the first line says what is wrong.
template <auto kRun, class Options>
auto in_a_sentence(const Options& options) {
  try {
    return kRun(options);
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    fail("LibTorch cannot do this: {}", text.substr(0, text.find('\n')));
  }
}

}  // namespace
}  // namespace shellgame

// LibTorch's threads are as many as the tool's.
extern "C" const shellgame::LearnCommands* shellgame_learn_commands(int threads) {
  using namespace shellgame;
  static const LearnCommands commands = {.describe = in_a_sentence<run_describe>,
                                         .logits = in_a_sentence<run_logits>,
                                         .generate = in_a_sentence<run_generate>,
                                         .convert = in_a_sentence<run_convert>,
                                         .new_model = in_a_sentence<run_new_model>,
                                         .bench_model = in_a_sentence<run_bench_model>,
                                         .train = in_a_sentence<run_train>,
                                         .evaluate = in_a_sentence<run_evaluate>,
                                         .probe = in_a_sentence<run_probe>,
                                         .load_plugins = in_a_sentence<load_plugins>};
  use_threads(threads);
  keep_freed_memory();
  use_simd_target_of_environment();
  return &commands;
}
