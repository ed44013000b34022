#include "shellgame/tool/run_learn.h"

#include "shellgame/kernels/targets.h"
#include "shellgame/ops/engine.h"
#include "shellgame/ops/memory.h"
#include "shellgame/system/files.h"

// The library has its own copy of the core, so threads and signals are set up here again.
extern "C" const shellgame::LearnCommands* shellgame_learn_commands(int threads) {
  using namespace shellgame;
  static const LearnCommands commands = {.describe = run_describe,
                                         .logits = run_logits,
                                         .generate = run_generate,
                                         .convert = run_convert,
                                         .new_model = run_new_model,
                                         .bench_model = run_bench_model};
  use_threads(threads);
  keep_freed_memory();
  use_simd_target_of_environment();
  remove_temporary_files_on_interrupt();
  return &commands;
}
