#include "shellgame/tool/learn_commands.h"

#include "shellgame/system/blas_core.h"
#include "shellgame/system/cores.h"
#include "shellgame/system/threads.h"
#include "shellgame/tool/load_library.h"

namespace shellgame {

const LearnCommands& learn_commands() {
  static const LearnCommands* commands = [] {
    choose_blas_core();  // LibTorch brings OpenBLAS
    let_waiting_threads_sleep();
    bound_thread_variables();
    void* entry = load_library("libshellgame_models.so", "shellgame_learn_commands",
                               "build it with -DSHELLGAME_LEARN=ON (needs LibTorch)");
    return reinterpret_cast<const LearnCommands* (*)(int)>(entry)(thread_count());
  }();
  return *commands;
}

}  // namespace shellgame
