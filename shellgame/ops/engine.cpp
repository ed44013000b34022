#include "shellgame/ops/engine.h"

#include <ATen/Parallel.h>

#include <atomic>

#include "shellgame/system/threads.h"

namespace shellgame {
namespace {

std::atomic<Engine> engine_in_use = Engine::kKernels;

}  // namespace

Engine engine() { return engine_in_use; }

EngineScope::EngineScope(Engine engine) : before_(engine_in_use.exchange(engine)) {}
EngineScope::~EngineScope() { engine_in_use = before_; }

bool kernels_fit(std::initializer_list<at::Tensor> tensors) {
  if (engine_in_use != Engine::kKernels) return false;
  for (const at::Tensor& tensor : tensors) {
    if (tensor.defined() && (!tensor.device().is_cpu() || tensor.scalar_type() != at::kFloat))
      return false;
  }
  return true;
}

void use_threads(int count) {
  set_thread_count(count);
  at::set_num_threads(count);  // Debian's package starts with one
}

}  // namespace shellgame
