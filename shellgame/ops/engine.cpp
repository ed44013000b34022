#include "shellgame/ops/engine.h"

#include <ATen/Parallel.h>

#include <atomic>

#include "shellgame/system/onednn_isa.h"
#include "shellgame/system/threads.h"

namespace shellgame {
namespace {

std::atomic<Engine> engine_in_use = Engine::kKernels;

// Before `main`, or when the tool loads its models: whoever links an operation has this.
[[maybe_unused]] const bool onednn_is_told = (choose_onednn_isa(), true);

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
