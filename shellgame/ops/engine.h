// Which form of an operation runs: our kernels where they fit (fp32 and fp64 on a CPU), or plain
// Torch operations everywhere.
#pragma once

#include <ATen/core/Tensor.h>

#include <initializer_list>

namespace shellgame {

enum class Engine { kKernels, kComposed };

Engine engine();
// For the lifetime of this object, in all threads.
class EngineScope {
 public:
  explicit EngineScope(Engine engine);
  ~EngineScope();
  EngineScope(const EngineScope&) = delete;
  EngineScope& operator=(const EngineScope&) = delete;

 private:
  Engine before_;
};

// Whether kernels may run on these tensors (undefined ones do not count): all fp32, on a CPU.
bool kernels_fit(std::initializer_list<at::Tensor> tensors);

// The number of threads of our kernels and of Torch.
void use_threads(int count);

}  // namespace shellgame
